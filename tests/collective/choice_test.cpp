#include <gtest/gtest.h>

#include "tests/collective/trial.hpp"

namespace narrowcast::test {
namespace {

std::string_view chosen(std::size_t values, int ranks, const LinkCost& cost, int group = 0) {
  const std::vector<Tensor> tensors = {{"dynamic8", values, 0}};
  const auto codecs = codecs_of(tensors);
  Values space = {std::vector<float>(values)};
  return choose_all_reduce(pieces_of(tensors, codecs, space), {.group = group}, cost, ranks).name;
}

TEST(Auto, TakesOneRoundWhereMessagesAreDear) {
  const LinkCost slow_start{.machine = {1000, 0.001}, .network = {1000, 0.001}};
  EXPECT_EQ(chosen(1000, 4, slow_start), "gather");
}

TEST(Auto, TakesTheFewestBytesWhereBytesAreDear) {
  const LinkCost narrow{.machine = {1, 0.01}, .network = {1, 0.01}};
  EXPECT_EQ(chosen(1'000'000, 4, narrow), "direct");
}

TEST(Auto, StaysWithinMachinesWhereTheNetworkIsMuchSlower) {
  const LinkCost two_speeds{.machine = {1, 0.0001}, .network = {10, 0.1}};
  EXPECT_EQ(chosen(1'000'000, 8, two_speeds, 4), "hierarchy");
}

}  // namespace
}  // namespace narrowcast::test
