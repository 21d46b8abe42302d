#include "bench/collective_exercise.hpp"

#include <algorithm>
#include <limits>

#include "base/error.hpp"

namespace narrowcast::bench {
namespace {

MutableFloats slice(AlignedFloats& values, const Stretch& where) {
  return values.empty() ? MutableFloats() : MutableFloats(values).subspan(where.begin, where.count);
}

}  // namespace

std::string_view name_of(Collective collective) {
  switch (collective) {
    case Collective::all_reduce:
      return "allreduce";
    case Collective::all_gather:
      return "allgather";
    case Collective::reduce_scatter:
      return "reducescatter";
    case Collective::broadcast:
      return "broadcast";
    case Collective::send_receive:
      return "sendrecv";
    case Collective::transfer:
      return "transfer";
  }
  return "";
}

void check(const CollectiveRequest& request, int ranks) {
  if (request.collective == Collective::transfer)
    require(ranks == 2, Fault::usage, "a transfer is between two ranks, no more and no less");
  if (request.collective == Collective::send_receive)
    require(ranks >= 2, Fault::usage, "sendrecv needs two ranks at least");
  if (request.collective != Collective::all_reduce)
    return require(!request.of_engine(), Fault::usage,
                   "engines are asked for their all-reduce only; --codec engine goes with "
                   "'bench allreduce'");
  if (request.of_engine()) return;
  const Piece piece{.values = {}, .codec = request.codec};
  if (request.algorithm == nullptr)
    choose_all_reduce({&piece, 1}, request.how, {}, ranks);
  else
    check(*request.algorithm, {&piece, 1}, request.how);
}

const AllReduceRow& choose(const CollectiveRequest& request, const LinkCost& cost, int ranks) {
  // Nobody looks at the values: only their number is needed.
  const auto values = std::make_unique_for_overwrite<float[]>(request.count);
  const Piece piece{.values = {values.get(), request.count}, .codec = request.codec};
  return choose_all_reduce({&piece, 1}, request.how, cost, ranks);
}

// Beside input, values and residuals: exact results in double, bounds, and for a codec whose block
// is the whole tensor the scratch of the bounds, of which there are three.
std::size_t tensors_needed(const CollectiveRequest& request) {
  const bool one_block = !request.of_engine() && request.codec->promise().block == 0;
  return 2 + (request.residuals == Residuals::on ? 2 : 0) + 3 + (one_block ? 5 + 3 * 6 : 0);
}

Exercise::Exercise(const CollectiveRequest& request, int rank, int ranks)
    : request_(request), rank_(rank), ranks_(ranks), input_(request.count), values_(request.count) {
  request.inputs.draw(rank, 0, input_);
  if (request.residuals == Residuals::off || request.of_engine()) return;
  sender_residual_.resize(request.count);
  if (request.algorithm != nullptr && request.algorithm->owner_residual)
    owner_residual_.resize(request.count);
}

void Exercise::restore() {
  std::ranges::fill(values_, std::numeric_limits<float>::quiet_NaN());
  std::copy_n(input_.begin() + static_cast<std::ptrdiff_t>(own().begin), own().count,
              values_.begin() + static_cast<std::ptrdiff_t>(own().begin));
  std::ranges::fill(sender_residual_, 0.0F);
  std::ranges::fill(owner_residual_, 0.0F);
}

Reduction Exercise::how(std::uint64_t step) const {
  Reduction how = request_.how;
  how.travel.step = step;
  return how;
}

const std::vector<Sample>& Exercise::samples(std::uint64_t step) {
  // Steps differ by their dice alone.
  const bool throws_dice = !request_.of_engine() && request_.codec->promise().bias.has_value();
  if (samples_ && !throws_dice) return *samples_;
  samples_ = request_.residuals == Residuals::on ? std::vector<Sample>() : replay(step);
  return *samples_;
}

Play Exercise::play(std::uint64_t step, std::uint64_t tensor, const Stretch& where) const {
  return {.inputs = request_.inputs,
          .codec = *request_.codec,
          .how = how(step),
          .ranks = ranks_,
          .tensor = tensor,
          .where = where};
}

Stretch Exercise::part(int index) const {
  const auto border = [&](int i) {
    const auto part = static_cast<std::size_t>(i);
    const auto all = static_cast<std::size_t>(ranks_);
    return request_.count / all * part + std::min(part, request_.count % all);
  };
  return {border(index), border(index + 1) - border(index)};
}

Piece Exercise::piece(const Codec& codec, std::uint64_t tensor, const Stretch& where) {
  return {.tensor = tensor,
          .values = slice(values_, where),
          .codec = &codec,
          .sender_residual = slice(sender_residual_, where),
          .owner_residual = slice(owner_residual_, where)};
}

std::vector<Piece> Exercise::whole(const Codec& codec) {
  return {piece(codec, 0, {0, request_.count})};
}

std::vector<Piece> Exercise::parts(const Codec& codec) {
  std::vector<Piece> all;
  for (int i = 0; i < ranks_; ++i) all.push_back(piece(codec, i, part(i)));
  return all;
}

Piece Exercise::outgoing(const Codec& codec) {
  return {.values = input_, .codec = &codec, .sender_residual = sender_residual_};
}

}  // namespace narrowcast::bench
