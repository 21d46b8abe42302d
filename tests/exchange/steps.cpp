#include "tests/exchange/steps.hpp"

#include <gtest/gtest.h>

#include "base/checksum.hpp"
#include "codec/samples.hpp"
#include "collective/collective.hpp"
#include "tests/support/check.hpp"

namespace narrowcast::test {

std::vector<Tensor> tensors_of(const std::vector<std::size_t>& elements) {
  std::vector<Tensor> tensors;
  for (const std::size_t count : elements)
    tensors.push_back(
        {.name = "layer" + std::to_string(tensors.size()) + ".weight", .elements = count});
  return tensors;
}

Values shares_of(const std::vector<Tensor>& tensors, int rank, std::uint64_t step) {
  Values values;
  for (const Tensor& tensor : tensors) {
    values.emplace_back(tensor.elements);
    const Stream stream = stream_of({.seed = 17,
                                     .step = step,
                                     .tensor = checksum(std::as_bytes(std::span(tensor.name))),
                                     .rank = static_cast<std::uint32_t>(rank)});
    distribution("normal").draw(stream, 0, values.back());
  }
  return values;
}

Plan plan_of(const Way& way) {
  Plan plan = plan_for(way);
  plan.min_elements = 0;
  plan.total = Total::sum;
  return plan;
}

Plan plan_of(const std::string& codec, Feedback feedback) {
  return plan_of(Way{.codec = codec, .feedback = feedback});
}

StepReport exchange_step(Exchange& exchange, const Moment& moment, Values& values) {
  exchange.begin(moment);
  for (std::size_t i = 0; i < values.size(); ++i) exchange.ready(i, values[i]);
  return exchange.wait();
}

std::vector<Outcome> run(const Trial& trial) {
  std::vector<Outcome> outcomes(trial.ranks);
  on_ranks(trial.ranks, [&](Transport& net) {
    Exchange exchange(net, trial.plan, trial.tensors, trial.options);
    Outcome& outcome = outcomes[net.rank()];
    for (int step = 0; step < trial.steps; ++step) {
      outcome.sums = shares_of(trial.tensors, net.rank(), step);
      outcome.report =
          exchange_step(exchange, {.step = static_cast<std::uint64_t>(step)}, outcome.sums);
    }
  });
  return outcomes;
}

std::vector<Values> reference(const Trial& trial) {
  std::vector<Values> sums(trial.ranks);
  const std::uint64_t step = trial.steps - 1;
  on_ranks(trial.ranks, [&](Transport& net) {
    Conversation group(net, 0);
    Values& values = sums[net.rank()] = shares_of(trial.tensors, net.rank(), step);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const Tensor& tensor = trial.tensors[i];
      const Way& way = way_of(trial.plan, tensor.name, tensor.elements, {.step = step});
      const auto codec = make_codec(way.codec, {.innermost = tensor.innermost});
      const Piece piece{.tensor = checksum(std::as_bytes(std::span(tensor.name))),
                        .values = values[i],
                        .codec = codec.get()};
      const bool average = trial.plan.total == Total::average;
      all_reduce(all_reduce_row(trial.plan.algorithm), {&piece, 1},
                 {.travel = {.seed = trial.options.seed, .step = step},
                  .result = average ? Result::average : Result::sum,
                  .group = trial.plan.group},
                 group);
    }
  });
  return sums;
}

void expect_sums(const std::vector<Outcome>& outcomes, const Values& expected) {
  for (std::size_t rank = 0; rank < outcomes.size(); ++rank)
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_TRUE(same_values(outcomes[rank].sums[i], expected[i]))
          << "tensor " << i << " on rank " << rank;
}

void expect_same_sums(const std::vector<Outcome>& outcomes) {
  expect_sums(outcomes, outcomes[0].sums);
}

}  // namespace narrowcast::test
