#include "bench/stopwatch.hpp"

#include <gtest/gtest.h>

#include <array>

namespace narrowcast::bench::test {
namespace {

TEST(Stopwatch, LetsEveryOperationTakeItsTurns) {
  std::array<int, 2> calls = {0, 0};
  const std::array<Operation, 2> operations = {[&] { ++calls[0]; }, [&] { ++calls[1]; }};
  const std::vector<double> best = best_nanoseconds(operations, 0);
  ASSERT_EQ(2u, best.size());
  for (const double nanoseconds : best) EXPECT_GT(nanoseconds, 0);
  for (const int count : calls) EXPECT_GE(count, 3);
}

TEST(Stopwatch, MeasuresTheSlowerOneAsSlower) {
  volatile double sink = 0;
  const auto work = [&](int steps) {
    for (int i = 0; i < steps; ++i) sink = sink + 1;
  };
  const std::array<Operation, 2> operations = {[&] { work(1000); }, [&] { work(100'000); }};
  const std::vector<double> best = best_nanoseconds(operations, 0);
  EXPECT_LT(best[0], best[1]);
}

TEST(Stopwatch, PassesErrorsOn) {
  const std::array<Operation, 1> operations = {[] { throw std::runtime_error("no"); }};
  EXPECT_THROW(best_nanoseconds(operations, 0), std::runtime_error);
}

}  // namespace
}  // namespace narrowcast::bench::test
