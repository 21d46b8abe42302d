#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "tests/exchange/steps.hpp"
#include "tests/support/check.hpp"

// Values that are not finite, tensors that are not there, and the wish to stop.
namespace narrowcast::test {
namespace {

const std::vector<Tensor> kTensors = tensors_of({2000, 300, 1500});
constexpr int kRanks = 3;

Plan plan_with(NonFinitePolicy policy, const std::string& codec = "dynamic8") {
  Plan plan = plan_of(codec, Feedback::on);
  plan.non_finite = policy;
  plan.fusion_bytes = 4000;
  return plan;
}

Values with_nan_on_rank_1(int rank, std::uint64_t step) {
  Values values = shares_of(kTensors, rank, step);
  if (rank == 1) values[2][77] = std::nanf("");
  return values;
}

bool all_finite(const std::vector<Array>& saved) {
  for (const Array& array : saved)
    if (array.dtype == Dtype::f32)
      for (const float value : floats_of(array))
        if (!std::isfinite(value)) return false;
  return true;
}

TEST(NotFinite, ReachesEveryRankWhenItPropagates) {
  for (const char* codec : {"dynamic8", "onebit:column=64", "float:e=5,m=2", "fp32", "qsgd:bits=4"})
    on_ranks(kRanks, [&](Transport& net) {
      SCOPED_TRACE(codec);
      Exchange exchange(net, plan_with(NonFinitePolicy::propagate, codec), kTensors);
      Values values = with_nan_on_rank_1(net.rank(), 0);
      const StepReport report = exchange_step(exchange, {}, values);
      EXPECT_FALSE(report.skipped);
      EXPECT_FALSE(std::isfinite(values[2][77]));
      for (const float value : values[0]) EXPECT_TRUE(std::isfinite(value));
      EXPECT_TRUE(all_finite(exchange.save()));
      // And the next step is as good as any.
      values = shares_of(kTensors, net.rank(), 1);
      exchange_step(exchange, {.step = 1}, values);
      for (const auto& each : values)
        for (const float value : each) EXPECT_TRUE(std::isfinite(value));
    });
}

TEST(NotFinite, SkipsTheStepOnEveryRankAsIfItHadNotBeen) {
  for (const char* codec : {"dynamic8", "onebit:column=64", "float:e=5,m=2,kind=finite"})
    on_ranks(kRanks, [&](Transport& net) {
      SCOPED_TRACE(codec);
      Exchange exchange(net, plan_with(NonFinitePolicy::skip_step, codec), kTensors);
      Exchange undisturbed(net, plan_with(NonFinitePolicy::skip_step, codec), kTensors,
                           {.channel = 50});
      for (std::uint64_t step = 0; step < 6; ++step) {
        const bool bad = step == 0 || step == 3;
        Values values =
            bad ? with_nan_on_rank_1(net.rank(), step) : shares_of(kTensors, net.rank(), step);
        const StepReport report = exchange_step(exchange, {.step = step}, values);
        EXPECT_EQ(report.skipped, bad);
        if (bad) continue;
        Values expected = shares_of(kTensors, net.rank(), step);
        exchange_step(undisturbed, {.step = step}, expected);
        for (std::size_t i = 0; i < values.size(); ++i)
          EXPECT_TRUE(same_values(values[i], expected[i])) << step;
      }
      EXPECT_EQ(exchange.save(), undisturbed.save());
    });
}

TEST(NotFinite, SkipsTheStepWhenOnlyTheSumOverflows) {
  on_ranks(2, [](Transport& net) {
    Exchange exchange(net, plan_with(NonFinitePolicy::skip_step, "fp32"), kTensors);
    Values values = shares_of(kTensors, net.rank(), 0);
    values[1][5] = std::numeric_limits<float>::max();
    EXPECT_TRUE(exchange_step(exchange, {}, values).skipped);
    values = shares_of(kTensors, net.rank(), 1);
    EXPECT_FALSE(exchange_step(exchange, {.step = 1}, values).skipped);
  });
}

TEST(NotFinite, FailsOnEveryRankNamingTheTensor) {
  on_ranks(kRanks, [](Transport& net) {
    Exchange exchange(net, plan_with(NonFinitePolicy::fail), kTensors);
    Values good = shares_of(kTensors, net.rank(), 0);
    exchange_step(exchange, {.step = 41}, good);
    Values values = with_nan_on_rank_1(net.rank(), 1);
    try {
      exchange_step(exchange, {.step = 42}, values);
      ADD_FAILURE() << "rank " << net.rank() << " noticed nothing";
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::wire);
      EXPECT_STREQ(error.what(), "not finite in step 42: 'layer2.weight'");
    }
    EXPECT_EQ(fault_of([&] { exchange.begin({}); }), Fault::wire);
    EXPECT_EQ(fault_of([&] { exchange.wait(); }), Fault::wire);
    EXPECT_EQ(fault_of([&] { exchange.ready(0, values[0]); }), Fault::wire);
    EXPECT_EQ(fault_of([&] { exchange.save(); }), Fault::wire);
    EXPECT_EQ(fault_of([&] { exchange.load({}); }), Fault::wire);
    EXPECT_EQ(fault_of([&] { exchange.broadcast(0, values[0]); }), Fault::wire);
  });
}

TEST(NotFinite, FailsOnEveryRankWhenOnlyTheSumOverflows) {
  std::atomic<int> failed = 0;
  on_ranks(2, [&](Transport& net) {
    Exchange exchange(net, plan_with(NonFinitePolicy::fail, "fp32"), kTensors);
    Values values = shares_of(kTensors, net.rank(), 0);
    values[1][5] = std::numeric_limits<float>::max();
    try {
      exchange_step(exchange, {}, values);
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("the sum of 'layer1.weight'"), std::string::npos);
      ++failed;
    }
  });
  EXPECT_EQ(failed, 2);
}

// Rank 0 uses the first, rank 1 the second, nobody the third.
TEST(UnusedTensors, CountAsZerosAndTheirSumsGoWhereTheyAreWanted) {
  for (const char* codec : {"fp32", "dynamic8", "float:e=5,m=2"})
    on_ranks(2, [&](Transport& net) {
      SCOPED_TRACE(codec);
      Plan plan = plan_of(codec, Feedback::on);
      if (std::string(codec).starts_with("float")) plan.rules[0].way.scaling = Scaling::aps;
      Exchange exchange(net, plan, kTensors);
      const std::size_t mine = net.rank();
      const std::size_t theirs = 1 - mine;
      Values values = shares_of(kTensors, net.rank(), 0);
      std::vector<float> rest(kTensors[theirs].elements, 7);
      exchange.set_rest([&](std::size_t tensor) {
        EXPECT_EQ(tensor, theirs);
        return MutableFloats(rest);
      });
      exchange.begin({});
      exchange.ready(mine, values[mine]);
      const StepReport report = exchange.wait();
      EXPECT_EQ(report.used, (std::vector<bool>{true, true, false}));
      EXPECT_TRUE(all_finite(exchange.save()));
      // What the other got in its own buffer came here by the same bits.
      Values all = {mine == 0 ? values[0] : rest, mine == 0 ? rest : values[1]};
      const Values before = all;
      exchange.broadcast(0, all[0]);
      exchange.broadcast(1, all[1]);
      EXPECT_EQ(all, before);
      if (std::string(codec) == "fp32") {
        EXPECT_EQ(rest, shares_of(kTensors, static_cast<int>(theirs), 0)[theirs]);
      }
    });
}

TEST(UnusedTensors, KeepWhatIsHeldBack) {
  on_ranks(2, [](Transport& net) {
    Exchange exchange(net, plan_of("onebit:column=64", Feedback::on), kTensors);
    Values values = shares_of(kTensors, net.rank(), 0);
    exchange_step(exchange, {}, values);
    const std::vector<Array> before = exchange.save();
    exchange.begin({.step = 1});
    exchange.wait();
    EXPECT_EQ(exchange.save(), before);
    if (net.rank() == 0) {
      EXPECT_GT(before.size(), 1U);
    }
  });
}

TEST(UnusedTensors, AreDroppedWhenNobodyWantsThem) {
  on_ranks(2, [](Transport& net) {
    Exchange exchange(net, plan_of("dynamic8"), kTensors);
    Values values = shares_of(kTensors, net.rank(), 0);
    exchange.begin({});
    if (net.rank() == 0) exchange.ready(0, values[0]);
    const StepReport report = exchange.wait();
    EXPECT_EQ(report.used, (std::vector<bool>{true, false, false}));
    // A place of another size is a mistake.
    exchange.set_rest([&](std::size_t) { return MutableFloats(values[1]); });
    exchange.begin({.step = 1});
    if (net.rank() == 0) exchange.ready(0, values[0]);
    if (net.rank() == 0)
      exchange.wait();
    else
      EXPECT_EQ(fault_of([&] { exchange.wait(); }), Fault::usage);
  });
}

TEST(AskToStop, StopsEveryRankAfterTheSameStep) {
  on_ranks(kRanks, [](Transport& net) {
    Exchange exchange(net, plan_of("dynamic8"), kTensors);
    for (std::uint64_t step = 0; step < 4; ++step) {
      Values values = shares_of(kTensors, net.rank(), step);
      if (step == 2 && net.rank() == 1) exchange.ask_to_stop();
      EXPECT_EQ(exchange_step(exchange, {.step = step}, values).stop, step == 2);
    }
  });
}

}  // namespace
}  // namespace narrowcast::test
