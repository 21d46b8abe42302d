#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "base/error.hpp"
#include "codec/scale.hpp"
#include "collective/collective.hpp"
#include "tests/exchange/steps.hpp"
#include "tests/support/check.hpp"

// Auto precision scaling within an exchange.
namespace narrowcast::test {
namespace {

using Fill = std::function<void(int rank, Values& values)>;

std::vector<Values> exchange_filled(const Plan& plan, const std::vector<Tensor>& tensors, int ranks,
                                    const Fill& fill) {
  std::vector<Values> sums(ranks);
  on_ranks(ranks, [&](Transport& net) {
    Exchange exchange(net, plan, tensors);
    Values values = shares_of(tensors, net.rank(), 0);
    fill(net.rank(), values);
    exchange_step(exchange, {}, values);
    sums[net.rank()] = values;
  });
  for (const Values& each : sums)
    for (std::size_t i = 0; i < each.size(); ++i) EXPECT_TRUE(same_values(each[i], sums[0][i]));
  return sums;
}

Plan scaled_plan(const std::string& codec, Scaling scaling) {
  return plan_of(Way{.codec = codec, .scaling = scaling});
}

void multiply(std::vector<float>& values, float factor) {
  for (float& value : values) value *= factor;
}

const std::vector<Tensor> kTensors = tensors_of({2000, 1500, 700});

// Layers far apart in size: each is as exact as if it were alone in the middle of the format.
TEST(ScaledExchange, BringsEveryLayerIntoTheRangeOfItsFormat) {
  const float sizes[] = {1e-12F, 1.0F, 1e9F};
  for (const char* codec : {"float:e=4,m=3", "float:e=3,m=2", "e4m3", "e5m2", "fp16"})
    for (const Scaling scaling : {Scaling::aps, Scaling::aps_tight})
      for (const AllReduceRow& row : all_reduces()) {
        SCOPED_TRACE(std::string(codec) + " " + std::string(row.name));
        Plan plan = scaled_plan(codec, scaling);
        plan.algorithm = row.name;
        plan.group = 2;
        const auto sums = exchange_filled(plan, kTensors, 4, [&](int, Values& values) {
          for (std::size_t i = 0; i < values.size(); ++i) multiply(values[i], sizes[i]);
        });
        const auto made = make_codec(codec);
        for (std::size_t i = 0; i < kTensors.size(); ++i) {
          double largest = 0;
          std::vector<double> exact(kTensors[i].elements);
          for (int rank = 0; rank < 4; ++rank) {
            Values values = shares_of(kTensors, rank, 0);
            multiply(values[i], sizes[i]);
            largest = std::max(largest, largest_magnitude(values[i]));
            for (std::size_t j = 0; j < exact.size(); ++j) exact[j] += values[i][j];
          }
          // Seven roundings at most, each of a number that is no larger than the bound on sums.
          const int k = Scale(*made, scaling, {.ranks = 4}).exponent(static_cast<float>(largest));
          const Promise& promise = made->promise();
          const double of_one =
              std::max(promise.of_value * 4 * largest, std::ldexp(promise.absolute, -k));
          for (std::size_t j = 0; j < exact.size(); ++j)
            ASSERT_NEAR(sums[0][i][j], exact[j], 7 * of_one) << i << " " << j;
          EXPECT_GT(largest_magnitude(sums[0][i]), 0);
        }
      }
}

TEST(ScaledExchange, SavesWhatWouldVanishOrOverflow) {
  const auto fill = [](int, Values& values) {
    multiply(values[0], 1e-9F);
    multiply(values[1], 1e9F);
  };
  const auto plain =
      exchange_filled(scaled_plan("float:e=4,m=3", Scaling::none), kTensors, 2, fill);
  EXPECT_EQ(largest_magnitude(plain[0][0]), 0);
  EXPECT_FALSE(std::isfinite(largest_magnitude(plain[0][1])));
  const auto scaled =
      exchange_filled(scaled_plan("float:e=4,m=3", Scaling::aps), kTensors, 2, fill);
  EXPECT_GT(largest_magnitude(scaled[0][0]), 0);
  EXPECT_TRUE(std::isfinite(largest_magnitude(scaled[0][1])));
}

TEST(ScaledExchange, LeavesZeroLayersZero) {
  for (const Scaling scaling : {Scaling::aps, Scaling::aps_tight}) {
    const auto sums = exchange_filled(scaled_plan("float:e=4,m=3", scaling), kTensors, 3,
                                      [](int rank, Values& values) {
                                        std::ranges::fill(values[0], 0.0F);
                                        if (rank != 1) std::ranges::fill(values[1], -0.0F);
                                      });
    for (const float value : sums[0][0]) EXPECT_EQ(value, 0);
    // One rank alone has the second.
    const auto own = shares_of(kTensors, 1, 0)[1];
    const Promise promise = make_codec("float:e=4,m=3")->promise();
    for (std::size_t i = 0; i < own.size(); ++i)
      EXPECT_NEAR(sums[0][1][i], own[i],
                  2 * promise.of_value * std::abs(own[i]) + 2 * promise.absolute);
  }
}

TEST(ScaledExchange, CarriesSubnormalNumbersAndTheLargest) {
  const auto fill = [](int rank, Values& values) {
    std::ranges::fill(values[0], std::ldexp(1.0F, -140));
    std::ranges::fill(values[1], std::numeric_limits<float>::denorm_min());
    std::ranges::fill(values[2], rank == 0 ? std::ldexp(1.5F, 126) : -std::ldexp(1.0F, 126));
  };
  for (const Scaling scaling : {Scaling::aps, Scaling::aps_tight})
    for (const char* codec : {"float:e=5,m=10", "e5m2", "bf16"}) {
      SCOPED_TRACE(codec);
      const auto sums = exchange_filled(scaled_plan(codec, scaling), kTensors, 2, fill);
      EXPECT_EQ(sums[0][0][5], std::ldexp(1.0F, -139));
      EXPECT_EQ(sums[0][2][5], std::ldexp(1.0F, 125));
      // 2^-149 times 2^126, the largest factor, is 2^-23.
      const double least = make_codec(codec)->promise().absolute * 2;
      EXPECT_EQ(sums[0][1][5], least <= 0x1p-23 ? 0x1p-148F : 0.0F);
    }
}

TEST(ScaledExchange, KeepsWhatIsNotFiniteVisibleAndTheRestRight) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float bad : {std::nanf(""), infinity, -infinity})
    for (const char* codec : {"float:e=4,m=3", "float:e=3,m=0", "e4m3", "e5m2"})
      for (const Scaling scaling : {Scaling::aps, Scaling::aps_tight}) {
        SCOPED_TRACE(codec);
        const Plan plan = scaled_plan(codec, scaling);
        const auto clean = exchange_filled(plan, kTensors, 3, [](int rank, Values& values) {
          for (auto& each : values) multiply(each, 1e-5F);
          if (rank == 1) values[0][123] = 0;
        });
        const auto sums = exchange_filled(plan, kTensors, 3, [&](int rank, Values& values) {
          for (auto& each : values) multiply(each, 1e-5F);
          if (rank == 1) values[0][123] = bad;
        });
        for (std::size_t i = 0; i < kTensors.size(); ++i)
          for (std::size_t j = 0; j < sums[0][i].size(); ++j) {
            if (i == 0 && j == 123)
              EXPECT_FALSE(std::isfinite(sums[0][i][j]));
            else
              EXPECT_EQ(sums[0][i][j], clean[0][i][j]) << i << " " << j;
          }
      }
}

// Steps with such values on each rank, one after the other, under feedback: no sum overflows.
void expect_finite_steps(const char* algorithm,
                         const std::function<void(int rank, std::uint64_t step, Values&)>& fill) {
  SCOPED_TRACE(algorithm);
  Plan plan = scaled_plan("float:e=4,m=1", Scaling::aps_tight);
  plan.rules[0].way.feedback = Feedback::on;
  plan.algorithm = algorithm;
  on_ranks(3, [&](Transport& net) {
    Exchange exchange(net, plan, kTensors);
    for (std::uint64_t step = 0; step < 4; ++step) {
      Values values = shares_of(kTensors, net.rank(), step);
      fill(net.rank(), step, values);
      exchange_step(exchange, {.step = step}, values);
      for (const auto& each : values) EXPECT_TRUE(std::isfinite(largest_magnitude(each)));
    }
  });
}

// The error that is held back after a large step must not overflow the format of a small one.
TEST(ScaledExchange, LeavesRoomForWhatSendersHoldBack) {
  expect_finite_steps("ring", [](int, std::uint64_t step, Values& values) {
    for (auto& each : values) multiply(each, step % 2 == 0 ? 1e4F : 1e-4F);
  });
}

TEST(ScaledExchange, LeavesRoomForWhatOwnersHoldBack) {
  // Numbers of the format, so that senders hold nothing back; their sum is none.
  constexpr float kShares[] = {1, 1.5F, 0.25F};
  expect_finite_steps("direct", [&](int rank, std::uint64_t step, Values& values) {
    for (auto& each : values)
      std::ranges::fill(each, std::ldexp(kShares[rank], step % 2 == 0 ? 13 : -13));
  });
}

TEST(ScaledExchange, RefusesWaysThatCannotBeScaledBeforeAnythingTravels) {
  const auto fault = [](const Plan& plan, int ranks) {
    return fault_of([&] { run({.plan = plan, .tensors = kTensors, .ranks = ranks}); });
  };
  EXPECT_EQ(fault(scaled_plan("dynamic8", Scaling::aps), 2), Fault::usage);
  EXPECT_EQ(fault(scaled_plan("float:e=2,m=1", Scaling::aps), 8), Fault::usage);
  Plan later = plan_of("fp32");
  later.rules[0].schedule = {{.from = 30, .way = {.codec = "linear8", .scaling = Scaling::aps}}};
  EXPECT_EQ(fault(later, 2), Fault::usage);
}

}  // namespace
}  // namespace narrowcast::test
