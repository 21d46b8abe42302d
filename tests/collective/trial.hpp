#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "collective/collective.hpp"
#include "transport/counting.hpp"

// One all-reduce on ranks that are threads, and what became of it.
namespace narrowcast::test {

struct Tensor {
  std::string codec = "fp32";
  std::size_t values = 0;
  std::uint64_t id = 0;
  int exponent = 0;
};

enum class Residuals { none, sender, both };

struct Trial {
  std::vector<Tensor> tensors;
  Reduction how = {};
  int ranks = 2;
  int threads = 1;
  Residuals residuals = Residuals::none;
  int steps = 1;  // one after the other, with the same residuals
};

using Values = std::vector<std::vector<float>>;  // by tensor

// Of one rank, after the last step.
struct Outcome {
  Values results;
  Values sender_residuals;
  Values owner_residuals;
  Sent sent = {};  // in all steps together
  std::size_t scratch = 0;
};

// What a rank brings in a step; the same on every call.
std::vector<float> share_of(const Tensor& tensor, int rank, std::uint64_t step);

std::vector<Outcome> reduce(const AllReduceRow& row, const Trial& trial);

std::vector<std::unique_ptr<Codec>> codecs_of(const std::vector<Tensor>& tensors);
std::vector<Piece> pieces_of(const std::vector<Tensor>& tensors,
                             const std::vector<std::unique_ptr<Codec>>& codecs, Values& values);

// The traffic that a rank declares for a trial.
Traffic declared(const AllReduceRow& row, const Trial& trial, int rank);

}  // namespace narrowcast::test
