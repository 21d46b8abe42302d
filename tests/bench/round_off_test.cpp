#include "bench/round_off.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.hpp"

namespace narrowcast::bench::test {
namespace {

TEST(ScalingExponent, IsThePapers) {
  const std::unique_ptr<Codec> codec = make_codec("float:e=5,m=2");
  EXPECT_EQ(15 - 8, scaling_exponent(*codec, 256, 1));
  EXPECT_EQ(15 - 9, scaling_exponent(*codec, 256, 1.5));
  EXPECT_EQ(15 + 2, scaling_exponent(*codec, 256, 0x1p-10));
  EXPECT_EQ(7 - 3, scaling_exponent(*make_codec("float:e=4,m=3"), 8, 1));
}

TEST(ScalingExponent, LeavesAloneWhatHasNoSize) {
  const std::unique_ptr<Codec> codec = make_codec("float:e=5,m=2");
  EXPECT_EQ(0, scaling_exponent(*codec, 8, 0));
  EXPECT_EQ(0, scaling_exponent(*codec, 8, INFINITY));
  EXPECT_EQ(0, scaling_exponent(*codec, 8, NAN));
  EXPECT_EQ(kMaxExponent, scaling_exponent(*codec, 1, 1e-45));
}

TEST(NoisyGradient, DiffersFromRankToRankByNoise) {
  const RoundOffRequest request{.values = 2048};
  const std::vector<float> a = noisy_gradient(request, 0);
  const std::vector<float> b = noisy_gradient(request, 1);
  EXPECT_EQ(a, noisy_gradient(request, 0));
  double product = 0;
  double squares = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    product += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    squares += static_cast<double>(a[i]) * static_cast<double>(a[i]);
  }
  EXPECT_NE(a, b);
  EXPECT_NEAR(0.5, product / squares, 0.2);  // half of it is what they have in common
}

TEST(RoundOff, IsLeastInTheMiddleAndLargestOnTheRing) {
  const std::unique_ptr<Codec> codec = make_codec("float:e=5,m=2");
  const std::vector<RoundOff> rows =
      measure_round_off({.ranks = 96, .values = 2000, .codec = codec.get()});
  ASSERT_EQ(6u, rows.size());
  const RoundOff& ring = rows.back();
  EXPECT_EQ("ring", ring.algorithm);
  EXPECT_FALSE(ring.kahan_percent);
  for (std::size_t i = 0; i + 1 < rows.size(); ++i) {
    EXPECT_LT(rows[i].format_percent, ring.format_percent) << rows[i].group;
    ASSERT_TRUE(rows[i].kahan_percent);
    EXPECT_LT(*rows[i].kahan_percent, rows[i].format_percent) << rows[i].group;
    EXPECT_LT(rows[i].fp32_percent, rows[i].format_percent) << rows[i].group;
    EXPECT_FALSE(rows[i].published_percent);
  }
  EXPECT_LT(rows[1].format_percent, rows[4].format_percent);
}

TEST(RoundOff, IsNothingInFp32) {
  const std::unique_ptr<Codec> codec = make_codec("fp32");
  for (const RoundOff& row : measure_round_off({.ranks = 6, .values = 500, .codec = codec.get()}))
    EXPECT_LT(row.format_percent, 0.01) << row.algorithm;
}

TEST(RoundOff, RefusesCodecsWhoseValuesShareScales) {
  const std::unique_ptr<Codec> codec = make_codec("dynamic8");
  EXPECT_THROW(measure_round_off({.ranks = 4, .codec = codec.get()}), Error);
}

}  // namespace
}  // namespace narrowcast::bench::test
