#include "exchange/exchange.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/error.hpp"
#include "collective/collective.hpp"
#include "tests/exchange/steps.hpp"
#include "tests/support/check.hpp"
#include "transport/counting.hpp"
#include "transport/inproc.hpp"

// Named buffers in, sums out.
namespace narrowcast::test {
namespace {

const std::vector<Tensor> kTensors = tensors_of({3001, 5, 0, 700, 12'000, 1, 2500});

TEST(Exchange, AddsUpWhatAllRanksBring) {
  for (const int ranks : {1, 2, 3}) {
    const Trial trial{.plan = plan_of("fp32"), .tensors = kTensors, .ranks = ranks};
    Values sums = shares_of(kTensors, 0, 0);
    for (int rank = 1; rank < ranks; ++rank) {
      const Values more = shares_of(kTensors, rank, 0);
      for (std::size_t i = 0; i < sums.size(); ++i)
        for (std::size_t j = 0; j < sums[i].size(); ++j) sums[i][j] += more[i][j];
    }
    expect_sums(run(trial), sums);
  }
}

TEST(Exchange, GivesWhatOneAllReduceOfEachTensorGives) {
  for (const char* codec : {"dynamic8", "qsgd:bits=4", "onebit:column=64", "float:e=4,m=3",
                            "qsgd:bits=2,coding=elias", "linear8"})
    for (const AllReduceRow& row : all_reduces())
      for (const Total total : {Total::sum, Total::average}) {
        SCOPED_TRACE(std::string(codec) + " " + std::string(row.name));
        Trial trial{.plan = plan_of(codec), .tensors = kTensors, .ranks = 3, .steps = 2};
        trial.plan.algorithm = row.name;
        trial.plan.group = 2;
        trial.plan.total = total;
        trial.plan.fusion_bytes = 20'000;
        trial.options.seed = 4;
        expect_sums(run(trial), reference(trial)[0]);
      }
}

TEST(Exchange, OfNoTensorsDoesNothingAndSavesIt) {
  on_ranks(2, [](Transport& net) {
    Exchange exchange(net, plan_of("onebit"), {});
    exchange.begin({});
    EXPECT_TRUE(exchange.wait().used.empty());
    const std::vector<Array> saved = exchange.save();
    ASSERT_EQ(saved.size(), net.rank() == 0 ? 1u : 0u);
    for (const Array& array : saved) EXPECT_EQ(array.name, "residual/ranks");
    exchange.load(saved);
  });
}

TEST(Exchange, SendsSmallTensorsAsTheyAre) {
  Trial trial{.plan = plan_of("onebit"), .tensors = kTensors};
  trial.plan.min_elements = 2000;
  const std::vector<Outcome> outcomes = run(trial);
  trial.plan = plan_of("fp32");
  const std::vector<Outcome> plain = run(trial);
  for (std::size_t i = 0; i < kTensors.size(); ++i)
    EXPECT_EQ(static_cast<bool>(same_values(outcomes[1].sums[i], plain[1].sums[i])),
              kTensors[i].elements < 2000)
        << i;
}

TEST(Exchange, KnowsTheInnermostDimension) {
  const std::vector<Tensor> tensors = {{.name = "a", .elements = 6000, .innermost = 60},
                                       {.name = "b", .elements = 6000, .innermost = 100}};
  const Trial trial{.plan = plan_of("onebit:column=shape"), .tensors = tensors};
  expect_sums(run(trial), reference(trial)[0]);
}

TEST(Exchange, DoesNotDependOnFusionThreadsOrOrder) {
  for (const char* codec : {"dynamic8", "qsgd:bits=4", "onebit:column=64"}) {
    SCOPED_TRACE(codec);
    Trial trial{.plan = plan_of(codec, Feedback::on), .tensors = kTensors, .ranks = 3, .steps = 3};
    const Values expected = run(trial)[0].sums;
    trial.options.threads = 2;
    for (const std::size_t bytes : {1, 15'000, 100'000'000}) {
      trial.plan.fusion_bytes = bytes;
      expect_sums(run(trial), expected);
    }
    std::ranges::reverse(trial.tensors);
    Values backwards = expected;
    std::ranges::reverse(backwards);
    expect_sums(run(trial), backwards);
  }
}

TEST(Exchange, TakesTensorsInAnyOrderFromAnyThread) {
  Trial trial{.plan = plan_of("dynamic8"), .tensors = kTensors, .ranks = 3};
  trial.plan.fusion_bytes = 4000;
  const Values expected = run(trial)[0].sums;
  on_ranks(3, [&](Transport& net) {
    Exchange exchange(net, trial.plan, kTensors);
    Values values = shares_of(kTensors, net.rank(), 0);
    exchange.begin({});
    {
      std::vector<std::jthread> threads;
      for (std::size_t i = 0; i < values.size(); ++i) {
        const std::size_t at = (i * 3 + net.rank()) % values.size();
        threads.emplace_back([&, at] { exchange.ready(at, values[at]); });
      }
    }
    exchange.wait();
    for (std::size_t i = 0; i < values.size(); ++i)
      EXPECT_TRUE(same_values(values[i], expected[i]));
  });
}

// The first buffer is through, on every rank, before the second is ready anywhere.
TEST(Exchange, ExchangesABufferWhileTheNextIsStillComputed) {
  const std::vector<Tensor> tensors = tensors_of({4000, 3000});
  Plan plan = plan_of("dynamic8");
  plan.fusion_bytes = 1;
  const Trial trial{.plan = plan, .tensors = tensors};
  const Values expected = run(trial)[0].sums;
  const auto codec = make_codec("dynamic8");
  std::vector<float> blank(4000);
  const Piece first{
      .tensor = 0, .values = blank, .codec = codec.get()};  // both ranks send as many messages
  const std::size_t due = all_reduce_row("direct").traffic({&first, 1}, {}, 0, 2).messages();
  Hub hub(2, kTestTimeout);
  const Connect connect = [&](int rank) { return std::make_unique<Counting>(hub.connect(rank)); };
  on_ranks(connect, 2, [&](Transport& net) {
    auto& counting = dynamic_cast<Counting&>(net);
    Exchange exchange(net, plan, tensors);
    Values values = shares_of(tensors, net.rank(), 0);
    counting.reset();
    exchange.begin({});
    exchange.ready(0, values[0]);
    const auto deadline = std::chrono::steady_clock::now() + kTestTimeout / 2;
    while (counting.received().messages < due && std::chrono::steady_clock::now() < deadline)
      std::this_thread::yield();
    EXPECT_EQ(counting.received().messages, due);
    exchange.ready(1, values[1]);
    const StepReport report = exchange.wait();
    EXPECT_GE(report.overlap(), 0);
    EXPECT_LE(report.overlap(), 1);
    for (std::size_t i = 0; i < values.size(); ++i)
      EXPECT_TRUE(same_values(values[i], expected[i]));
  });
}

TEST(Exchange, CountsEveryByteThatItSends) {
  for (const char* codec :
       {"dynamic8", "qsgd:bits=2,coding=elias", "float:e=4,m=3", "onebit:column=64"})
    for (const char* algorithm : {"direct", "ring", "auto"}) {
      SCOPED_TRACE(std::string(codec) + " " + algorithm);
      Plan plan = plan_of(codec);
      plan.algorithm = algorithm;
      plan.min_elements = 1000;
      plan.fusion_bytes = 20'000;
      if (std::string(codec).starts_with("float")) plan.rules[0].way.scaling = Scaling::aps;
      Hub hub(3, kTestTimeout);
      const Connect connect = [&](int rank) {
        return std::make_unique<Counting>(hub.connect(rank));
      };
      on_ranks(connect, 3, [&](Transport& net) {
        auto& counting = dynamic_cast<Counting&>(net);
        Exchange exchange(net, plan, kTensors);
        Values values = shares_of(kTensors, net.rank(), 0);
        counting.reset();
        const StepReport report = exchange_step(exchange, {}, values);
        EXPECT_EQ(report.bytes(), counting.sent().bytes);
        EXPECT_GT(report.bytes_by_codec.at(codec), 0U);
        EXPECT_GT(report.bytes_by_codec.at("fp32"), 0U);
        EXPECT_GT(report.fp32_bytes, report.bytes());
      });
    }
}

TEST(Exchange, SaysWhatItWouldHaveSentInFp32) {
  Trial trial{.plan = plan_of("dynamic8"), .tensors = kTensors};
  const std::vector<Outcome> narrow = run(trial);
  trial.plan = plan_of("fp32");
  const std::vector<Outcome> wide = run(trial);
  for (int rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(narrow[rank].report.fp32_bytes, wide[rank].report.fp32_bytes);
    EXPECT_EQ(wide[rank].report.fp32_bytes, wide[rank].report.bytes_by_codec.at("fp32"));
  }
}

TEST(Exchange, MeasuresWhereItsTimeGoes) {
  const Trial trial{.plan = plan_of("dynamic8"), .tensors = kTensors};
  for (const Outcome& outcome : run(trial)) {
    const StepReport& report = outcome.report;
    EXPECT_GT(report.encode_ms, 0);
    EXPECT_GT(report.decode_ms, 0);
    EXPECT_GT(report.wait_ms, 0);
    EXPECT_GE(report.busy_ms, report.encode_ms);
  }
}

TEST(Exchange, FollowsTheScheduleOfThePlan) {
  Plan plan = plan_of("fp32");
  plan.rules[0].unit = Unit::epoch;
  plan.rules[0].schedule = {{.from = 1, .way = {.codec = "dynamic8"}},
                            {.from = 2, .way = {.codec = "qsgd:bits=4"}}};
  const char* const kCodecs[] = {"fp32", "dynamic8", "qsgd:bits=4", "qsgd:bits=4"};
  std::vector<Values> expected;
  for (const char* codec : kCodecs) {
    Trial alone{.plan = plan_of(codec), .tensors = kTensors};
    expected.push_back(reference(alone)[0]);
  }
  on_ranks(2, [&](Transport& net) {
    Exchange exchange(net, plan, kTensors);
    for (std::uint64_t epoch = 0; epoch < 4; ++epoch) {
      Values values = shares_of(kTensors, net.rank(), 0);
      const StepReport report = exchange_step(exchange, {.step = 0, .epoch = epoch}, values);
      EXPECT_TRUE(report.bytes_by_codec.contains(kCodecs[epoch]));
      for (std::size_t i = 0; i < values.size(); ++i)
        EXPECT_TRUE(same_values(values[i], expected[epoch][i])) << epoch;
    }
  });
}

TEST(Exchange, BroadcastsRankZerosValuesBitForBit) {
  on_ranks(3, [&](Transport& net) {
    Exchange exchange(net, plan_of("dynamic8"), kTensors);
    const Values first = shares_of(kTensors, 0, 0);
    Values values = shares_of(kTensors, net.rank(), 0);
    for (std::size_t i = 0; i < values.size(); ++i) exchange.broadcast(i, values[i]);
    EXPECT_EQ(values, first);
    std::vector<float> other(77, static_cast<float>(net.rank() + 1));
    exchange.broadcast(other);
    EXPECT_EQ(other, std::vector<float>(77, 1.0F));
    exchange_step(exchange, {}, values);
  });
}

TEST(Exchange, HasSeveralOnOneTransport) {
  on_ranks(2, [&](Transport& net) {
    Exchange one(net, plan_of("dynamic8"), kTensors, {.channel = 16});
    Exchange other(net, plan_of("fp32"), kTensors, {.channel = 40});
    Values a = shares_of(kTensors, net.rank(), 0);
    Values b = shares_of(kTensors, net.rank(), 1);
    one.begin({});
    other.begin({});
    // The ranks in different order; the calls of wait() in the same.
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (net.rank() == 0) one.ready(i, a[i]);
      other.ready(i, b[i]);
      if (net.rank() == 1) one.ready(i, a[i]);
    }
    other.wait();
    one.wait();
  });
}

TEST(Exchange, RunsOverEveryTransport) {
  const Trial trial{.plan = plan_of("qsgd:bits=4"), .tensors = kTensors, .ranks = 3};
  const Values expected = run(trial)[0].sums;
  for (const RanksRow& row : every_ranks()) {
    SCOPED_TRACE(row.name);
    on_ranks(row, 3, [&](Transport& net) {
      Exchange exchange(net, trial.plan, kTensors);
      Values values = shares_of(kTensors, net.rank(), 0);
      exchange_step(exchange, {}, values);
      for (std::size_t i = 0; i < values.size(); ++i)
        EXPECT_TRUE(same_values(values[i], expected[i]));
    });
  }
}

TEST(Exchange, KnowsTheAlgorithmsThatPlansName) {
  for (const AllReduceRow& row : all_reduces()) {
    Plan plan;
    set_key(plan, "algorithm", row.name, "test");
    EXPECT_EQ(plan.algorithm, row.name);
    const Trial trial{.plan = plan, .tensors = tensors_of({10})};
    expect_same_sums(run(trial));
  }
  Plan plan;
  EXPECT_EQ(fault_of([&] { set_key(plan, "algorithm", "tree", "test"); }), Fault::usage);
  plan.algorithm = "tree";
  EXPECT_EQ(fault_of([&] { run({.plan = plan, .tensors = tensors_of({10})}); }), Fault::usage);
}

}  // namespace
}  // namespace narrowcast::test
