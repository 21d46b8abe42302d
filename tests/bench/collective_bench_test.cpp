#include "bench/collective_bench.hpp"

#include <gtest/gtest.h>

#include <list>
#include <mutex>

#include "base/error.hpp"
#include "bench/collective_link.hpp"
#include "bench/collective_threads.hpp"

namespace narrowcast::bench::test {
namespace {

constexpr Collective kEvery[] = {Collective::all_reduce,     Collective::all_gather,
                                 Collective::reduce_scatter, Collective::broadcast,
                                 Collective::send_receive,   Collective::transfer};

// What each kind of codec has something of: exact, blocks, dice, a varying size, no blocks, one
// scale for all, values that do not fill a byte.
constexpr const char* kCodecs[] = {"fp32",
                                   "dynamic8:block=256",
                                   "qsgd:bits=4,bucket=64",
                                   "float:e=5,m=2",
                                   "qsgd:bits=4,norm=l2,coding=elias",
                                   "onebit",
                                   "dynamic8:block=0",
                                   "float:e=2,m=3"};

using Wrap = std::function<std::unique_ptr<Transport>(std::unique_ptr<Transport>)>;

// Rank 0's answer, after all ranks had the same one.
CollectiveTime measure(const CollectiveRequest& request, int ranks, const Wrap& wrap) {
  std::mutex mutex;
  std::vector<CollectiveTime> times;
  on_threads(ranks, [&](std::unique_ptr<Transport> net) {
    Counting counting(wrap(std::move(net)));
    Team alone(1);
    CollectiveBench bench(counting, alone, ranks);
    const CollectiveTime time = bench.measure(request);
    const std::lock_guard lock(mutex);
    times.push_back(time);
  });
  for (const CollectiveTime& time : times) EXPECT_EQ(times.front().time_us, time.time_us);
  return times.front();
}

CollectiveTime measure(const CollectiveRequest& request, int ranks) {
  return measure(request, ranks, [](std::unique_ptr<Transport> net) { return net; });
}

void expect_sound(const CollectiveTime& time, const Codec& codec) {
  EXPECT_EQ(0u, time.wrong);
  EXPECT_GT(time.time_us, 0);
  EXPECT_LE(time.least_us, time.time_us);
  EXPECT_GE(time.encode_us, 0);
  if (codec.promise().fixed_size)
    EXPECT_EQ(time.declared_bytes, time.wire_bytes);
  else
    EXPECT_GE(time.declared_bytes, time.wire_bytes);
}

TEST(EveryCollective, LeavesWhatItsCodecPromises) {
  for (const Collective collective : kEvery)
    for (const char* spec : kCodecs)
      for (const int ranks : {2, 3, 5}) {
        if (collective == Collective::transfer && ranks != 2) continue;
        SCOPED_TRACE(testing::Message() << name_of(collective) << " " << spec << " " << ranks);
        const std::unique_ptr<Codec> codec = make_codec(spec);
        expect_sound(measure({.collective = collective,
                              .algorithm = &all_reduce_row("direct"),
                              .codec = codec.get(),
                              .count = 3001,
                              .warm_up = 1,
                              .iterations = 2},
                             ranks),
                     *codec);
      }
}

TEST(EveryAllReduce, LeavesWhatItsCodecPromises) {
  for (const AllReduceRow& row : all_reduces())
    for (const char* spec : kCodecs)
      for (const int ranks : {1, 2, 5}) {
        SCOPED_TRACE(testing::Message() << row.name << " " << spec << " " << ranks);
        const std::unique_ptr<Codec> codec = make_codec(spec);
        expect_sound(measure({.algorithm = &row,
                              .codec = codec.get(),
                              .count = 3001,
                              .how = {.result = Result::average, .group = 2},
                              .residuals = Residuals::on,
                              .iterations = 2},
                             ranks),
                     *codec);
      }
}

TEST(EveryAllReduce, LeavesWhatItsCodecMakesOfIt) {
  for (const AllReduceRow& row : all_reduces())
    for (const char* spec : kCodecs)
      for (const int ranks : {1, 2, 5})
        for (const Result result : {Result::sum, Result::average}) {
          SCOPED_TRACE(testing::Message() << row.name << " " << spec << " " << ranks);
          const std::unique_ptr<Codec> codec = make_codec(spec);
          const CollectiveRequest request{.algorithm = &row,
                                          .codec = codec.get(),
                                          .count = 20001,
                                          .how = {.result = result, .group = 2},
                                          .iterations = 2};
          expect_sound(measure(request, ranks), *codec);
        }
}

TEST(EveryAllReduce, LeavesWhatItsFormatPromisesOfRoundedSums) {
  const std::unique_ptr<Codec> codec = make_codec("float:e=6,m=5");
  for (const AllReduceRow& row : all_reduces())
    for (const Sum sum : {Sum::format, Sum::kahan}) {
      if (sum == Sum::kahan && !row.kahan) continue;
      SCOPED_TRACE(row.name);
      expect_sound(
          measure({.algorithm = &row, .codec = codec.get(), .count = 500, .how = {.sum = sum}}, 4),
          *codec);
    }
}

TEST(CollectiveBench, CountsBytesBesideThoseOfFp32) {
  const std::unique_ptr<Codec> codec = make_codec("bf16");
  const CollectiveTime time =
      measure({.algorithm = &all_reduce_row("direct"), .codec = codec.get(), .count = 4096}, 4);
  EXPECT_EQ(4096u * 4, time.bytes());
  EXPECT_EQ(4096u * 2 * 2 * 3 / 4, time.wire_bytes);
  EXPECT_EQ(2, time.ratio());
  EXPECT_DOUBLE_EQ(time.algorithm_bandwidth() * 1.5, time.bus_bandwidth());
}

TEST(CollectiveTime, CountsBandwidthAsNcclTestsDo) {
  CollectiveTime time{.ranks = 4, .count = 1000, .time_us = 2};
  EXPECT_DOUBLE_EQ(2, time.algorithm_bandwidth());
  EXPECT_DOUBLE_EQ(3, time.bus_bandwidth());
  time.collective = Collective::all_gather;
  EXPECT_DOUBLE_EQ(1.5, time.bus_bandwidth());
  time.collective = Collective::reduce_scatter;
  EXPECT_DOUBLE_EQ(1.5, time.bus_bandwidth());
  time.collective = Collective::broadcast;
  EXPECT_DOUBLE_EQ(2, time.bus_bandwidth());
  time.collective = Collective::send_receive;
  EXPECT_DOUBLE_EQ(2, time.bus_bandwidth());
}

// Changes one bit of the first message of a rank that is measured.
class Flipping final : public Transport {
 public:
  explicit Flipping(std::unique_ptr<Transport> inner) : inner_(std::move(inner)) {}
  int rank() const override { return inner_->rank(); }
  int size() const override { return inner_->size(); }

 private:
  std::unique_ptr<narrowcast::Transfer> do_send(const Slot& to, Bytes message,
                                                const Stamp& stamp) override {
    const bool chosen = rank() == 0 && to.channel < Conversation::kLanes && !message.empty();
    if (!chosen || std::exchange(done_, true))
      return std::make_unique<PassedOn>(inner_->send(to, message, stamp));
    flipped_.assign(message.begin(), message.end());
    flipped_[3] ^= std::byte{0x40};  // the exponent of the first float32
    return std::make_unique<PassedOn>(inner_->send(to, flipped_, stamp));
  }
  std::unique_ptr<narrowcast::Transfer> do_receive(const Slot& from, MutableBytes buffer) override {
    return std::make_unique<PassedOn>(inner_->receive(from, buffer));
  }

  std::unique_ptr<Transport> inner_;
  std::vector<std::byte> flipped_;
  bool done_ = false;
};

TEST(EveryCollective, CountsWhatAFlippedBitMakesWrong) {
  const std::unique_ptr<Codec> codec = make_codec("fp32");
  for (const Collective collective : kEvery) {
    SCOPED_TRACE(name_of(collective));
    const CollectiveTime time = measure({.collective = collective,
                                         .algorithm = &all_reduce_row("direct"),
                                         .codec = codec.get(),
                                         .count = 100},
                                        2, [](std::unique_ptr<Transport> net) {
                                          return std::make_unique<Flipping>(std::move(net));
                                        });
    EXPECT_GE(time.wrong, 1u);
    EXPECT_LE(time.wrong, 2u);
    EXPECT_GT(time.max_error, 0.5);
  }
}

// Loses what is in the messages that are measured.
class Zeroing final : public Transport {
 public:
  explicit Zeroing(std::unique_ptr<Transport> inner) : inner_(std::move(inner)) {}
  int rank() const override { return inner_->rank(); }
  int size() const override { return inner_->size(); }

 private:
  std::unique_ptr<narrowcast::Transfer> do_send(const Slot& to, Bytes message,
                                                const Stamp& stamp) override {
    if (to.channel >= Conversation::kLanes)
      return std::make_unique<PassedOn>(inner_->send(to, message, stamp));
    zeros_.emplace_back(message.size());
    return std::make_unique<PassedOn>(inner_->send(to, zeros_.back(), stamp));
  }
  std::unique_ptr<narrowcast::Transfer> do_receive(const Slot& from, MutableBytes buffer) override {
    return std::make_unique<PassedOn>(inner_->receive(from, buffer));
  }

  std::unique_ptr<Transport> inner_;
  std::list<std::vector<std::byte>> zeros_;
};

CollectiveTime measure_zeroed(Collective collective, const AllReduceRow& row, const char* spec) {
  const std::unique_ptr<Codec> codec = make_codec(spec);
  return measure(
      {.collective = collective, .algorithm = &row, .codec = codec.get(), .count = 3001}, 2,
      [](std::unique_ptr<Transport> net) { return std::make_unique<Zeroing>(std::move(net)); });
}

TEST(EveryCollective, CountsZerosAsWrongEvenWhereTheCodecIsCoarse) {
  for (const Collective collective : kEvery)
    for (const char* spec : {"onebit", "qsgd:bits=2", "dynamic8:block=0"}) {
      SCOPED_TRACE(testing::Message() << name_of(collective) << " " << spec);
      EXPECT_GT(measure_zeroed(collective, all_reduce_row("direct"), spec).wrong, 0u);
    }
}

TEST(EveryAllReduce, CountsZerosAsWrongEvenWhereTheCodecIsCoarse) {
  for (const AllReduceRow& row : all_reduces()) {
    SCOPED_TRACE(row.name);
    EXPECT_GT(measure_zeroed(Collective::all_reduce, row, "onebit").wrong, 1000u);
  }
}

// A transport that can add float32 by itself.
class WithEngine final : public Transport {
 public:
  explicit WithEngine(std::unique_ptr<Transport> inner)
      : inner_(std::move(inner)), group_(*inner_, 9), fp32_(make_codec("fp32")) {}
  int rank() const override { return inner_->rank(); }
  int size() const override { return inner_->size(); }
  void engine_all_reduce(MutableFloats values) override {
    const Piece piece{.values = values, .codec = fp32_.get()};
    all_reduce(all_reduce_row("ring"), {&piece, 1}, {}, group_);
  }

 private:
  std::unique_ptr<narrowcast::Transfer> do_send(const Slot& to, Bytes message,
                                                const Stamp& stamp) override {
    return std::make_unique<PassedOn>(inner_->send(to, message, stamp));
  }
  std::unique_ptr<narrowcast::Transfer> do_receive(const Slot& from, MutableBytes buffer) override {
    return std::make_unique<PassedOn>(inner_->receive(from, buffer));
  }

  std::unique_ptr<Transport> inner_;
  Conversation group_;
  std::unique_ptr<Codec> fp32_;
};

TEST(CollectiveBench, MeasuresTheEnginesOwnAllReduce) {
  const CollectiveTime time = measure({.count = 1024}, 4, [](std::unique_ptr<Transport> net) {
    return std::make_unique<WithEngine>(std::move(net));
  });
  EXPECT_EQ(0u, time.wrong);
  EXPECT_EQ(1024u * 4 * 2 * 3 / 4, time.wire_bytes);
  EXPECT_EQ(1, time.ratio());
}

void expect_usage(const CollectiveRequest& request, int ranks) {
  try {
    check(request, ranks);
    FAIL() << "expected an error";
  } catch (const Error& error) {
    EXPECT_EQ(Fault::usage, error.fault()) << error.what();
  }
}

TEST(CollectiveBench, RefusesWhatCannotBeDone) {
  const std::unique_ptr<Codec> codec = make_codec("dynamic8");
  expect_usage({.collective = Collective::transfer, .codec = codec.get()}, 3);
  expect_usage({.collective = Collective::send_receive, .codec = codec.get()}, 1);
  expect_usage({.collective = Collective::broadcast}, 2);
  expect_usage(
      {.algorithm = &all_reduce_row("gather"), .codec = codec.get(), .how = {.self = Self::exact}},
      2);
  expect_usage({.codec = codec.get(), .how = {.sum = Sum::format}}, 2);
}

TEST(Expectation, RefusesWhatACoarserCodecLeaves) {
  const std::unique_ptr<Codec> fine = make_codec("dynamic8:block=256");
  const std::unique_ptr<Codec> coarse = make_codec("qsgd:bits=2");
  const Expectation expected = expect_copy({}, 0, *fine, {0, 3000});
  std::vector<float> values(3000);
  Inputs().draw(0, 0, values);
  std::vector<std::byte> wire(coarse->max_bytes(values.size()));
  coarse->decode(Bytes(wire).first(coarse->encode(values, wire)), values);
  std::size_t refused = 0;
  for (std::size_t i = 0; i < values.size(); ++i) refused += expected.allows(i, values[i]) ? 0 : 1;
  EXPECT_GT(refused, values.size() / 4);
}

TEST(Expectation, AllowsNothingButRoundingsOfAnExactSum) {
  const std::unique_ptr<Codec> fp32 = make_codec("fp32");
  const Expectation expected = expect_all_reduce(
      {}, {.algorithm = &all_reduce_row("direct"), .codec = fp32.get(), .ranks = 4}, 1000);
  for (std::size_t i = 0; i < 1000; ++i) {
    const auto nearest = static_cast<float>(expected.exact[i]);
    EXPECT_TRUE(expected.allows(i, nearest));
    EXPECT_FALSE(expected.allows(i, nearest + static_cast<float>(expected.largest()) / 1000)) << i;
  }
}

TEST(Replay, ReachesTheFirstAndTheLastBlock) {
  const std::unique_ptr<Codec> codec = make_codec("dynamic8:block=256");
  for (const std::size_t count : {1u, 255u, 257u, 100000u}) {
    const Inputs inputs;
    const auto samples = replay_copy({.inputs = inputs, .codec = *codec, .where = {0, count}}, 0);
    ASSERT_FALSE(samples.empty());
    EXPECT_EQ(0u, samples.front().begin);
    EXPECT_EQ(count, samples.back().begin + samples.back().count());
  }
}

TEST(Link, CostsTheSameOnEveryRank) {
  const std::unique_ptr<Codec> codec = make_codec("dynamic8");
  for (const int local : {1, 2, 3}) {
    std::mutex mutex;
    std::vector<LinkCost> costs;
    on_threads(3, [&](std::unique_ptr<Transport> net) {
      Control control(*net, 0);
      Team alone(1);
      const LinkCost cost = measure_link(control, local, *codec, alone);
      const std::lock_guard lock(mutex);
      costs.push_back(cost);
    });
    for (const LinkCost& cost : costs) {
      EXPECT_GT(cost.machine.message_us, 0);
      EXPECT_GT(cost.network.message_us, 0);
      EXPECT_GT(cost.encode_us, 0);
      EXPECT_EQ(costs.front().machine.byte_us, cost.machine.byte_us);
      EXPECT_EQ(costs.front().network.byte_us, cost.network.byte_us);
    }
  }
}

}  // namespace
}  // namespace narrowcast::bench::test
