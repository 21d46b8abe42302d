#include "bench/collective_exercise.hpp"

#include <algorithm>
#include <limits>

#include "base/error.hpp"

namespace narrowcast::bench {
namespace {

MutableFloats slice(AlignedFloats& values, const Stretch& where) {
  return values.empty() ? MutableFloats() : MutableFloats(values).subspan(where.begin, where.count);
}

class AllReduce final : public Exercise {
 public:
  using Exercise::Exercise;

  void run(std::uint64_t step, Conversation& group) override {
    all_reduce(*request_.algorithm, whole(*request_.codec), how(step), group);
  }
  Traffic traffic(const Codec& codec) override {
    return request_.algorithm->traffic(whole(codec), how(0), rank_, ranks_);
  }
  Expectation expectation() const override {
    return expect_all_reduce(request_.inputs,
                             {.algorithm = request_.algorithm,
                              .codec = request_.codec,
                              .how = request_.how,
                              .ranks = ranks_},
                             request_.count);
  }
};

// The engine's bytes cannot be counted; those of a ring are what it needs at least.
class EngineAllReduce final : public Exercise {
 public:
  using Exercise::Exercise;

  void run(std::uint64_t /*step*/, Conversation& group) override {
    group.net().engine_all_reduce(values());
  }
  Traffic traffic(const Codec& codec) override {
    return all_reduce_row("ring").traffic(whole(codec), how(0), rank_, ranks_);
  }
  Expectation expectation() const override {
    return expect_all_reduce(request_.inputs, {.ranks = ranks_}, request_.count);
  }
};

class AllGather final : public Exercise {
 public:
  using Exercise::Exercise;

  void run(std::uint64_t step, Conversation& group) override {
    all_gather(parts(*request_.codec), travel(step), group);
  }
  Traffic traffic(const Codec& codec) override {
    return all_gather_traffic(parts(codec), travel(0), rank_, ranks_);
  }
  Expectation expectation() const override {
    Expectation all;
    for (int rank = 0; rank < ranks_; ++rank)
      append(all, expect_copy(request_.inputs, rank, *request_.codec, part(rank)));
    return all;
  }

 private:
  Stretch own() const override { return part(rank_); }
};

class ReduceScatter final : public Exercise {
 public:
  using Exercise::Exercise;

  void run(std::uint64_t step, Conversation& group) override {
    reduce_scatter(parts(*request_.codec), travel(step), group);
  }
  Traffic traffic(const Codec& codec) override {
    return reduce_scatter_traffic(parts(codec), travel(0), rank_, ranks_);
  }
  Expectation expectation() const override {
    return expect_scattered(request_.inputs, {.codec = request_.codec, .ranks = ranks_},
                            part(rank_));
  }
  Floats result() const override {
    return Exercise::result().subspan(part(rank_).begin, part(rank_).count);
  }
  bool is_common() const override { return false; }
};

class Broadcast final : public Exercise {
 public:
  using Exercise::Exercise;

  void run(std::uint64_t step, Conversation& group) override {
    broadcast(whole(*request_.codec), 0, travel(step), group);
  }
  Traffic traffic(const Codec& codec) override {
    return broadcast_traffic(whole(codec), travel(0), rank_, ranks_);
  }
  Expectation expectation() const override {
    return expect_copy(request_.inputs, 0, *request_.codec, {0, request_.count});
  }

 private:
  Stretch own() const override { return {0, rank_ == 0 ? request_.count : 0}; }
};

class SendReceive final : public Exercise {
 public:
  using Exercise::Exercise;

  void run(std::uint64_t step, Conversation& group) override {
    const Piece out = outgoing(*request_.codec);
    send_receive({.out = {&out, 1},
                  .to = (rank_ + 1) % ranks_,
                  .in = whole(*request_.codec),
                  .from = previous()},
                 travel(step), group);
  }
  Traffic traffic(const Codec& codec) override {
    const Piece out = outgoing(codec);
    return send_traffic({&out, 1}, travel(0));
  }
  Expectation expectation() const override {
    return expect_copy(request_.inputs, previous(), *request_.codec, {0, request_.count});
  }
  bool is_common() const override { return false; }

 private:
  Stretch own() const override { return {}; }
  int previous() const { return (rank_ + ranks_ - 1) % ranks_; }
};

class Transfer final : public Exercise {
 public:
  using Exercise::Exercise;

  // The answer says that everything has been decoded: until then rank 0's clock runs.
  void run(std::uint64_t step, Conversation& group) override {
    const Piece out = outgoing(*request_.codec);
    if (rank_ == 0) {
      send_receive({.out = {&out, 1}, .to = 1}, travel(step), group);
      const Span span(group, Work::wire);
      group.net().receive(group.next_from(1, kAnswers), {}).wait();
    } else {
      send_receive({.in = whole(*request_.codec), .from = 0}, travel(step), group);
      group.net().send(group.next_to(0, kAnswers), {}).wait();
    }
  }
  Traffic traffic(const Codec& codec) override {
    const Piece out = outgoing(codec);
    return send_traffic(Pieces(&out, rank_ == 0 ? 1 : 0), travel(0));
  }
  Expectation expectation() const override {
    if (rank_ == 0) return {};
    return expect_copy(request_.inputs, 0, *request_.codec, {0, request_.count});
  }
  Floats result() const override { return rank_ == 0 ? Floats() : Exercise::result(); }
  bool is_common() const override { return false; }

 private:
  static constexpr int kAnswers = 1;
  Stretch own() const override { return {}; }
};

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
  return 2 + (request.residuals == Residuals::on ? 2 : 0) + 3 + (one_block ? 3 + 3 * 6 : 0);
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

std::unique_ptr<Exercise> make_exercise(const CollectiveRequest& request, int rank, int ranks) {
  if (request.of_engine()) return std::make_unique<EngineAllReduce>(request, rank, ranks);
  switch (request.collective) {
    case Collective::all_reduce:
      return std::make_unique<AllReduce>(request, rank, ranks);
    case Collective::all_gather:
      return std::make_unique<AllGather>(request, rank, ranks);
    case Collective::reduce_scatter:
      return std::make_unique<ReduceScatter>(request, rank, ranks);
    case Collective::broadcast:
      return std::make_unique<Broadcast>(request, rank, ranks);
    case Collective::send_receive:
      return std::make_unique<SendReceive>(request, rank, ranks);
    case Collective::transfer:
      return std::make_unique<Transfer>(request, rank, ranks);
  }
  return nullptr;
}

}  // namespace narrowcast::bench
