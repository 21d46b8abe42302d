#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "base/error.hpp"
#include "run/run.hpp"

namespace narrowcast::test {
namespace {

constexpr double kEpochs = 100;

TEST(TheRate, StaysWhereNothingIsSaid) {
  for (const double epoch : {0.0, 0.5, 99.99}) EXPECT_EQ(rate_factor({}, epoch, kEpochs), 1);
}

TEST(TheRate, WarmsUpInAStraightLine) {
  const Schedule schedule{.warm_up = 5, .warm_from = 0.2};
  EXPECT_DOUBLE_EQ(rate_factor(schedule, 0, kEpochs), 0.2);
  EXPECT_DOUBLE_EQ(rate_factor(schedule, 2.5, kEpochs), 0.6);
  EXPECT_LT(rate_factor(schedule, 4.999, kEpochs), 1);
  EXPECT_DOUBLE_EQ(rate_factor(schedule, 5, kEpochs), 1);
  EXPECT_DOUBLE_EQ(rate_factor({.warm_up = 1}, 0, kEpochs), 0);
}

TEST(TheRate, FallsExponentiallyAfterEachEpoch) {
  const Schedule schedule{.shape = "exponential", .factor = 0.5};
  EXPECT_EQ(rate_factor(schedule, 0.99, kEpochs), 1);
  EXPECT_EQ(rate_factor(schedule, 1, kEpochs), 0.5);
  EXPECT_EQ(rate_factor(schedule, 1.99, kEpochs), 0.5);
  EXPECT_EQ(rate_factor(schedule, 3, kEpochs), 0.125);
}

TEST(TheRate, FallsInSteps) {
  const Schedule schedule{.shape = "steps", .factor = 0.5, .at = {40, 80}};
  EXPECT_EQ(rate_factor(schedule, 39.99, kEpochs), 1);
  EXPECT_EQ(rate_factor(schedule, 40, kEpochs), 0.5);
  EXPECT_EQ(rate_factor(schedule, 79.99, kEpochs), 0.5);
  EXPECT_EQ(rate_factor(schedule, 80, kEpochs), 0.25);
}

TEST(TheRate, FallsInAStraightLineToZero) {
  const Schedule schedule{.shape = "linear", .warm_up = 20};
  EXPECT_DOUBLE_EQ(rate_factor(schedule, 20, kEpochs), 1);
  EXPECT_DOUBLE_EQ(rate_factor(schedule, 60, kEpochs), 0.5);
  EXPECT_DOUBLE_EQ(rate_factor(schedule, 100, kEpochs), 0);
  EXPECT_DOUBLE_EQ(rate_factor(schedule, 101, kEpochs), 0);
}

TEST(TheRate, FallsAsACosineToZero) {
  const Schedule schedule{.shape = "cosine"};
  EXPECT_DOUBLE_EQ(rate_factor(schedule, 0, kEpochs), 1);
  EXPECT_DOUBLE_EQ(rate_factor(schedule, 50, kEpochs), 0.5);
  EXPECT_NEAR(rate_factor(schedule, 25, kEpochs), (1 + std::sqrt(0.5)) / 2, 1e-12);
  EXPECT_DOUBLE_EQ(rate_factor(schedule, 100, kEpochs), 0);
}

RC_GTEST_PROP(TheRate, NeverRisesAfterTheWarmUpNorLeavesItsRange, ()) {
  const auto part = [] { return *rc::gen::inRange(0, 1001) / 1000.0; };
  const Schedule schedule{.shape = *rc::gen::element<std::string>("constant", "exponential",
                                                                  "steps", "linear", "cosine"),
                          .warm_up = part() * 10,
                          .warm_from = part(),
                          .factor = part(),
                          .at = {part() * 50, 50 + part() * 50}};
  const double one = part() * kEpochs;
  const double other = part() * kEpochs;
  const double factor = rate_factor(schedule, one, kEpochs);
  RC_ASSERT(factor >= 0 && factor <= 1);
  if (schedule.warm_up <= one && one <= other)
    RC_ASSERT(rate_factor(schedule, other, kEpochs) <= factor);
}

TEST(TheRate, OfAnUnknownShapeIsRefused) {
  EXPECT_THROW(rate_factor({.shape = "wavy"}, 0, kEpochs), Error);
}

}  // namespace
}  // namespace narrowcast::test
