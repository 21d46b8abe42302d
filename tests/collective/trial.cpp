#include "tests/collective/trial.hpp"

#include "base/team.hpp"
#include "codec/samples.hpp"
#include "tests/support/ranks.hpp"
#include "transport/inproc.hpp"

namespace narrowcast::test {
namespace {

Values zeros(const std::vector<Tensor>& tensors) {
  Values all;
  for (const Tensor& tensor : tensors) all.emplace_back(tensor.values);
  return all;
}

void run_rank(const AllReduceRow& row, const Trial& trial, Counting& net, Outcome& outcome) {
  Team team(trial.threads);
  Conversation group(net, 1, {.team = &team});
  const auto codecs = codecs_of(trial.tensors);
  outcome.sender_residuals.resize(trial.tensors.size());
  outcome.owner_residuals.resize(trial.tensors.size());
  if (trial.residuals != Residuals::none) outcome.sender_residuals = zeros(trial.tensors);
  if (trial.residuals == Residuals::both) outcome.owner_residuals = zeros(trial.tensors);
  for (int step = 0; step < trial.steps; ++step) {
    Reduction how = trial.how;
    how.travel.step += step;
    outcome.results.clear();
    for (const Tensor& tensor : trial.tensors)
      outcome.results.push_back(share_of(tensor, net.rank(), how.travel.step));
    std::vector<Piece> pieces = pieces_of(trial.tensors, codecs, outcome.results);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      pieces[i].sender_residual = outcome.sender_residuals[i];
      pieces[i].owner_residual = outcome.owner_residuals[i];
    }
    all_reduce(row, pieces, how, group);
  }
  outcome.sent = net.sent();
  outcome.scratch = group.scratch_bytes();
}

}  // namespace

std::vector<float> share_of(const Tensor& tensor, int rank, std::uint64_t step) {
  std::vector<float> values(tensor.values);
  const Stream stream = stream_of(
      {.seed = 99, .step = step, .tensor = tensor.id, .rank = static_cast<std::uint32_t>(rank)});
  distribution("normal").draw(stream, 0, values);
  return values;
}

std::vector<std::unique_ptr<Codec>> codecs_of(const std::vector<Tensor>& tensors) {
  std::vector<std::unique_ptr<Codec>> codecs;
  for (const Tensor& tensor : tensors) codecs.push_back(make_codec(tensor.codec));
  return codecs;
}

std::vector<Piece> pieces_of(const std::vector<Tensor>& tensors,
                             const std::vector<std::unique_ptr<Codec>>& codecs, Values& values) {
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < tensors.size(); ++i)
    pieces.push_back({.tensor = tensors[i].id,
                      .values = values[i],
                      .codec = codecs[i].get(),
                      .exponent = tensors[i].exponent});
  return pieces;
}

Traffic declared(const AllReduceRow& row, const Trial& trial, int rank) {
  const auto codecs = codecs_of(trial.tensors);
  Values values = zeros(trial.tensors);
  return row.traffic(pieces_of(trial.tensors, codecs, values), trial.how, rank, trial.ranks);
}

std::vector<Outcome> reduce(const AllReduceRow& row, const Trial& trial) {
  std::vector<Outcome> outcomes(trial.ranks);
  Hub hub(trial.ranks, kTestTimeout);
  const Connect connect = [&](int rank) { return std::make_unique<Counting>(hub.connect(rank)); };
  on_ranks(connect, trial.ranks, [&](Transport& net) {
    run_rank(row, trial, dynamic_cast<Counting&>(net), outcomes[net.rank()]);
  });
  return outcomes;
}

}  // namespace narrowcast::test
