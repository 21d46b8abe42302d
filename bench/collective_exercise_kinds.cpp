// What the ranks do, one class for each collective.
#include "bench/collective_exercise.hpp"

namespace narrowcast::bench {
namespace {

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

 private:
  std::vector<Sample> replay(std::uint64_t step) const override {
    return replay_all_reduce(play(step), *request_.algorithm);
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

 private:
  // Engines add in an order of their own.
  std::vector<Sample> replay(std::uint64_t /*step*/) const override { return {}; }
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
  std::vector<Sample> replay(std::uint64_t step) const override {
    std::vector<Sample> all;
    for (int rank = 0; rank < ranks_; ++rank)
      for (Sample& sample : replay_copy(play(step, rank, part(rank)), rank)) {
        sample.begin += part(rank).begin;
        all.push_back(std::move(sample));
      }
    return all;
  }
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

 private:
  std::vector<Sample> replay(std::uint64_t step) const override {
    return replay_scattered(play(step, rank_, part(rank_)));
  }
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
  std::vector<Sample> replay(std::uint64_t step) const override {
    return replay_copy(play(step), 0);
  }
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
  std::vector<Sample> replay(std::uint64_t step) const override {
    return replay_copy(play(step), previous());
  }
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
  std::vector<Sample> replay(std::uint64_t step) const override {
    if (rank_ == 0) return {};
    return replay_copy(play(step), 0);
  }
  static constexpr int kAnswers = 1;
  Stretch own() const override { return {}; }
};

}  // namespace

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
