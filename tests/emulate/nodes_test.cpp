#include "emulate/nodes.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "collective/collective.hpp"
#include "tests/support/check.hpp"
#include "tests/support/fault_text.hpp"
#include "tests/support/inputs.hpp"
#include "tests/support/ranks.hpp"

namespace narrowcast::test {
namespace {

std::vector<std::vector<float>> gradients(int nodes, std::size_t values) {
  std::vector<std::vector<float>> all;
  for (int node = 0; node < nodes; ++node)
    all.push_back(normal(values, 100 + static_cast<std::uint64_t>(node)));
  return all;
}

std::vector<float> summed(const std::vector<std::vector<float>>& nodes, const NodeSum& how,
                          int threads = 1) {
  const std::vector<Floats> shares(nodes.begin(), nodes.end());
  std::vector<float> sum(nodes[0].size());
  Team team(threads);
  sum_nodes(shares, sum, how, team);
  return sum;
}

// What a real all-reduce leaves on rank 0.
std::vector<float> really(const std::vector<std::vector<float>>& nodes, const char* row,
                          const NodeSum& how, int exponent = 0) {
  std::vector<float> sum;
  on_ranks(static_cast<int>(nodes.size()), [&](Transport& net) {
    std::vector<float> values = nodes[static_cast<std::size_t>(net.rank())];
    const Piece piece{
        .tensor = how.tensor, .values = values, .codec = how.codec, .exponent = exponent};
    Conversation group(net, 0);
    all_reduce(all_reduce_row(row), {&piece, 1},
               {.travel = {.seed = how.seed, .step = how.step},
                .sum = how.compensation == Compensation::kahan ? Sum::kahan : Sum::format,
                .group = how.group},
               group);
    if (net.rank() == 0) sum = values;
  });
  return sum;
}

constexpr const char* kFormats[] = {"float:e=5,m=2", "float:e=4,m=3", "bf16", "float:e=3,m=0",
                                    "float:e=5,m=2,rounding=stochastic"};

TEST(SumOfNodes, IsThatOfARealRing) {
  for (const char* spec : kFormats)
    for (const int nodes : {1, 2, 5}) {
      SCOPED_TRACE(testing::Message() << spec << ", " << nodes << " nodes");
      const std::unique_ptr<Codec> codec = make_codec(spec);
      const NodeSum how{
          .codec = codec.get(), .order = Order::ring, .seed = 4, .step = 2, .tensor = 3};
      const auto all = gradients(nodes, 3001);
      EXPECT_TRUE(same_values(summed(all, how), really(all, "ring", how)));
    }
}

TEST(SumOfNodes, IsThatOfARealHierarchy) {
  for (const char* spec : kFormats)
    for (const int group : {0, 1, 2, 3, 7})
      for (const Compensation compensation : {Compensation::none, Compensation::kahan}) {
        SCOPED_TRACE(testing::Message() << spec << ", groups of " << group);
        const std::unique_ptr<Codec> codec = make_codec(spec);
        const NodeSum how{.codec = codec.get(),
                          .group = group,
                          .compensation = compensation,
                          .seed = 4,
                          .tensor = 1};
        const auto all = gradients(7, 2500);  // which overflow in the narrowest of the formats
        EXPECT_TRUE(same_values(summed(all, how), really(all, "hierarchy", how)));
      }
}

TEST(SumOfNodes, StaysInfiniteWithKahanOnceItHasOverflowed) {
  const std::unique_ptr<Codec> codec = make_codec("float:e=5,m=2");
  const NodeSum how{.codec = codec.get(), .compensation = Compensation::kahan};
  const std::vector<std::vector<float>> all(5, {40960.0f, -40960.0f, 1.0f});
  const std::vector<float> expected = {INFINITY, -INFINITY, 5.0f};
  EXPECT_TRUE(same_values(summed(all, how), expected));
  for (const char* row : {"direct", "gather", "hierarchy"}) {
    SCOPED_TRACE(row);
    EXPECT_TRUE(same_values(really(all, row, how), expected));
  }
}

TEST(SumOfNodes, ScalesByTheFactorOfThePaper) {
  const std::unique_ptr<Codec> codec = make_codec("float:e=5,m=2");
  auto all = gradients(4, 600);
  for (std::vector<float>& each : all)
    for (float& x : each) x *= 1e-6f;
  all[2][5] = 0x1.8p-17f;  // the largest: 4 of them are at most 2^-14
  const NodeSum how{.codec = codec.get(), .order = Order::ring, .scaling = Scaling::aps};
  const std::vector<Floats> shares(all.begin(), all.end());
  std::vector<float> sum(600);
  Team team(1);
  EXPECT_EQ(15 + 14, sum_nodes(shares, sum, how, team));
  EXPECT_TRUE(same_values(sum, really(all, "ring", how, 15 + 14)));
}

TEST(SumOfNodes, StaysNotFiniteUnderScaling) {
  const std::unique_ptr<Codec> codec = make_codec("float:e=5,m=2");
  auto all = gradients(3, 40);
  all[1][7] = NAN;
  all[2][9] = INFINITY;
  const std::vector<float> sum = summed(all, {.codec = codec.get(), .scaling = Scaling::aps_tight});
  EXPECT_TRUE(std::isnan(sum[7]));
  EXPECT_EQ(INFINITY, sum[9]);
  EXPECT_TRUE(std::isfinite(sum[8]));
}

TEST(SumOfNodes, IsTheSameForAnyNumberOfThreads) {
  const std::unique_ptr<Codec> codec = make_codec("float:e=5,m=2,rounding=stochastic");
  const auto all = gradients(6, 30011);
  for (const Order order : {Order::ring, Order::hierarchy}) {
    const NodeSum how{.codec = codec.get(), .order = order, .group = 2, .scaling = Scaling::aps};
    const std::vector<float> alone = summed(all, how);
    for (const int threads : {2, 3}) EXPECT_TRUE(same_values(summed(all, how, threads), alone));
  }
}

// In an (e,2) format the ring stops growing once its sum is eight times an addend.
TEST(SumOfNodes, GrowsFurtherInGroupsAndWithCompensation) {
  const std::unique_ptr<Codec> codec = make_codec("float:e=5,m=2");
  const std::vector<std::vector<float>> ones(64, std::vector<float>(300, 1));
  const auto value = [&](const NodeSum& how) { return summed(ones, how)[0]; };
  EXPECT_EQ(8.0f, value({.codec = codec.get(), .order = Order::ring}));
  EXPECT_EQ(8.0f, value({.codec = codec.get()}));
  EXPECT_EQ(64.0f, value({.codec = codec.get(), .group = 8}));
  EXPECT_EQ(64.0f, value({.codec = codec.get(), .compensation = Compensation::kahan}));
  EXPECT_EQ(
      64.0f,
      value({.codec = codec.get(), .order = Order::ring, .compensation = Compensation::kahan}));
}

TEST(SumOfNodes, TakesBlockFormats) {
  const std::unique_ptr<Codec> codec = make_codec("mxfp8");
  const auto all = gradients(3, 1000);
  const std::vector<float> sum = summed(all, {.codec = codec.get()});
  std::vector<float> expected = round_trip(*codec, all[0]);
  for (const int node : {1, 2}) {
    const std::vector<float> share = round_trip(*codec, all[static_cast<std::size_t>(node)]);
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += share[i];
    expected = round_trip(*codec, expected);
  }
  EXPECT_TRUE(same_values(sum, expected));
}

TEST(SumOfNodes, RefusesWhatItCannotDo) {
  const std::unique_ptr<Codec> format = make_codec("float:e=5,m=2");
  const std::unique_ptr<Codec> whole = make_codec("linear8:block=0");
  const std::unique_ptr<Codec> blocks = make_codec("dynamic8");
  const auto all = gradients(2, 8);
  const auto text = [&](const std::vector<std::vector<float>>& nodes, const NodeSum& how) {
    return fault_text([&] { summed(nodes, how); });
  };
  EXPECT_EQ("usage: sums of nodes are cut, which linear8:block=0 may not be: give it a block",
            text(all, {.codec = whole.get()}));
  EXPECT_EQ("usage: node 1 has 2 values, the sum has 8",
            text({all[0], {1, 2}}, {.codec = format.get()}));
  EXPECT_EQ("usage: a group has one node at least; 0: all of them",
            text(all, {.codec = format.get(), .group = -1}));
  EXPECT_EQ(
      "usage: aps scales float, e4m3, e5m2, fp16 and bf16, not dynamic8:block=4096,"
      "rounding=nearest",
      text(all, {.codec = blocks.get(), .scaling = Scaling::aps}));
}

}  // namespace
}  // namespace narrowcast::test
