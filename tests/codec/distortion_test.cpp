#include "codec/distortion.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/error.hpp"

namespace narrowcast::test {
namespace {

TEST(Distortion, OfEqualValuesIsNone) {
  const std::vector<float> x = {1, -2, 0, 3};
  Distortion distortion;
  distortion.add(x, x);
  EXPECT_EQ(4u, distortion.count());
  EXPECT_EQ(0, distortion.mean_absolute());
  EXPECT_EQ(0, distortion.mean_squared());
  EXPECT_EQ(0, distortion.mean_relative());
  EXPECT_EQ(0, distortion.max_absolute());
  EXPECT_EQ(0, distortion.bias());
  EXPECT_TRUE(std::isinf(distortion.signal_to_noise_db()));
  EXPECT_DOUBLE_EQ(1, distortion.cosine());
}

TEST(Distortion, IsWhatOneComputesByHand) {
  const std::vector<float> exact = {4, -2, 0, 8};
  const std::vector<float> decoded = {5, -2, 1, 6};  // off by 1, 0, 1, -2
  Distortion distortion;
  distortion.add(exact, decoded);
  EXPECT_DOUBLE_EQ(1, distortion.mean_absolute());
  EXPECT_DOUBLE_EQ(1.5, distortion.mean_squared());
  EXPECT_DOUBLE_EQ((0.25 + 0 + 0.25) / 3, distortion.mean_relative());  // without the zero
  EXPECT_DOUBLE_EQ(100 * distortion.mean_relative(), distortion.mean_relative_percent());
  EXPECT_DOUBLE_EQ(2, distortion.max_absolute());
  EXPECT_DOUBLE_EQ(0, distortion.bias());
  EXPECT_DOUBLE_EQ(10 * std::log10(84.0 / 6), distortion.signal_to_noise_db());
  EXPECT_DOUBLE_EQ(72 / std::sqrt(84.0 * 66), distortion.cosine());
}

TEST(Distortion, KeepsTheSignOfTheBias) {
  Distortion distortion;
  distortion.add(std::vector<float>{1, 1}, std::vector<float>{0.5f, 1});
  EXPECT_DOUBLE_EQ(-0.25, distortion.bias());
}

TEST(Distortion, AddsUpOverParts) {
  const std::vector<float> exact = {4, -2, 0, 8};
  const std::vector<float> decoded = {5, -2, 1, 6};
  Distortion whole;
  whole.add(exact, decoded);
  Distortion parts;
  parts.add(Floats(exact).first(1), Floats(decoded).first(1));
  parts.add(Floats(exact).subspan(1), Floats(decoded).subspan(1));
  EXPECT_EQ(whole.count(), parts.count());
  EXPECT_EQ(whole.mean_squared(), parts.mean_squared());
  EXPECT_EQ(whole.cosine(), parts.cosine());
}

TEST(Distortion, ShowsANaNInsteadOfHidingIt) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  Distortion distortion;
  distortion.add(std::vector<float>{1, 1, 1}, std::vector<float>{1, nan, 2});
  EXPECT_TRUE(std::isnan(distortion.mean_absolute()));
  EXPECT_TRUE(std::isnan(distortion.max_absolute()));
  EXPECT_TRUE(std::isnan(distortion.cosine()));
}

TEST(Distortion, OfNothingIsNone) {
  const Distortion distortion;
  EXPECT_EQ(0, distortion.mean_absolute());
  EXPECT_EQ(0, distortion.mean_relative());
  EXPECT_EQ(1, distortion.cosine());
}

TEST(Distortion, AZeroVectorPointsNowhere) {
  Distortion distortion;
  distortion.add(std::vector<float>{1, 2}, std::vector<float>{0, 0});
  EXPECT_EQ(0, distortion.cosine());
}

TEST(Distortion, RefusesDifferentNumbersOfValues) {
  Distortion distortion;
  EXPECT_THROW(distortion.add(std::vector<float>{1, 2}, std::vector<float>{1}), Error);
}

}  // namespace
}  // namespace narrowcast::test
