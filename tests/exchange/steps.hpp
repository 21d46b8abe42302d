#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "exchange/exchange.hpp"
#include "tests/support/ranks.hpp"

// Steps of an exchange on ranks that are threads, and what came of them.
namespace narrowcast::test {

using Values = std::vector<std::vector<float>>;  // by tensor

std::vector<Tensor> tensors_of(const std::vector<std::size_t>& elements);

// What a rank brings in a step: the same on every call.
Values shares_of(const std::vector<Tensor>& tensors, int rank, std::uint64_t step);

// A plan in which tensors of any size are encoded.
Plan plan_of(const std::string& codec, Feedback feedback = Feedback::off);
Plan plan_of(const Way& way);

// One step with those values; all tensors become ready in their order.
StepReport exchange_step(Exchange& exchange, const Moment& moment, Values& values);

struct Trial {
  Plan plan;
  std::vector<Tensor> tensors;
  int ranks = 2;
  int steps = 1;
  ExchangeOptions options = {};
};

// Of one rank: the sums of the last step, and the report.
struct Outcome {
  Values sums;
  StepReport report;
};
std::vector<Outcome> run(const Trial& trial);

// The same by one all-reduce for each tensor, without an exchange. No feedback, no scaling.
std::vector<Values> reference(const Trial& trial);

// All ranks have the same bits, and they are these.
void expect_sums(const std::vector<Outcome>& outcomes, const Values& expected);
void expect_same_sums(const std::vector<Outcome>& outcomes);

}  // namespace narrowcast::test
