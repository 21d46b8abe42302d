#include "codec/samples.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace narrowcast::test {
namespace {

std::vector<float> drawn(std::string_view name, std::size_t count, std::uint64_t seed = 1) {
  std::vector<float> values(count);
  distribution(name).draw(stream_of({.seed = seed}), 0, values);
  return values;
}

double mean_of(const std::vector<float>& values) {
  double sum = 0;
  for (const float x : values) sum += x;
  return sum / static_cast<double>(values.size());
}

double deviation_of(const std::vector<float>& values) {
  double sum = 0;
  for (const float x : values) sum += static_cast<double>(x) * x;
  const double mean = mean_of(values);
  return std::sqrt(sum / static_cast<double>(values.size()) - mean * mean);
}

constexpr std::size_t kMany = 1 << 18;
// Five standard errors of a mean of kMany values with deviation 1.
const double kFiveErrors = 5 / std::sqrt(static_cast<double>(kMany));

TEST(EveryDistribution, DrawsTheSameValuesWholeOrInParts) {
  for (const Distribution& each : distributions()) {
    const std::vector<float> whole = drawn(each.name, 5000);
    for (const std::size_t cut : {1u, 2u, 3u, 1023u, 1024u, 4999u}) {
      std::vector<float> parts(whole.size());
      const Stream stream = stream_of({.seed = 1});
      each.draw(stream, 0, MutableFloats(parts).first(cut));
      each.draw(stream, cut, MutableFloats(parts).subspan(cut));
      EXPECT_EQ(whole, parts) << each.name << " cut at " << cut;
    }
  }
}

TEST(EveryDistribution, DependsOnTheSeed) {
  for (const Distribution& each : distributions())
    EXPECT_NE(drawn(each.name, 64, 1), drawn(each.name, 64, 2)) << each.name;
}

TEST(EveryDistribution, IsFinite) {
  for (const Distribution& each : distributions())
    EXPECT_TRUE(std::ranges::all_of(drawn(each.name, kMany), [](float x) {
      return std::isfinite(x);
    })) << each.name;
}

TEST(Uniform, FillsTheOpenUnitInterval) {
  const std::vector<float> values = drawn("uniform", kMany);
  EXPECT_GT(*std::ranges::min_element(values), 0);
  EXPECT_LT(*std::ranges::max_element(values), 1);
  EXPECT_NEAR(0.5, mean_of(values), kFiveErrors * deviation_of(values));
  EXPECT_NEAR(std::sqrt(1 / 12.0), deviation_of(values), kFiveErrors);
}

TEST(Normal, HasTheDeviationOfItsName) {
  const std::pair<std::string_view, double> wanted[] = {
      {"normal", 1}, {"normal10", 10}, {"normal.2", 0.2}};
  for (const auto& [name, deviation] : wanted) {
    const std::vector<float> values = drawn(name, kMany);
    EXPECT_NEAR(0, mean_of(values), kFiveErrors * deviation) << name;
    EXPECT_NEAR(deviation, deviation_of(values), kFiveErrors * deviation) << name;
  }
}

TEST(Laplace, HasItsMeanSizeAndBothSigns) {
  std::vector<float> values = drawn("laplace", kMany);
  EXPECT_NEAR(0, mean_of(values), kFiveErrors * deviation_of(values));
  for (float& x : values) x = std::abs(x);
  EXPECT_NEAR(1, mean_of(values), kFiveErrors);
}

TEST(Gradient, HasOneZeroInTwenty) {
  const std::vector<float> values = drawn("gradient", kMany);
  const auto zeros = std::ranges::count(values, 0.0f);
  EXPECT_NEAR(13.0 / 256, static_cast<double>(zeros) / kMany, kFiveErrors);
}

TEST(Gradient, VariesItsScaleOverDecades) {
  const std::vector<float> values = drawn("gradient", kMany);
  std::vector<float> scales;
  for (std::size_t i = 0; i < values.size(); i += 1024)
    scales.push_back(
        std::abs(*std::max_element(values.begin() + static_cast<std::ptrdiff_t>(i),
                                   values.begin() + static_cast<std::ptrdiff_t>(i + 1024))));
  EXPECT_GT(*std::ranges::max_element(scales), 100 * *std::ranges::min_element(scales));
}

TEST(Distribution, WithAnUnknownNameIsRefusedWithTheKnownOnes) {
  try {
    distribution("poisson");
    FAIL() << "expected an error";
  } catch (const Error& error) {
    EXPECT_EQ(Fault::usage, error.fault());
    for (const Distribution& each : distributions())
      EXPECT_NE(std::string_view::npos, std::string_view(error.what()).find(each.name));
  }
}

}  // namespace
}  // namespace narrowcast::test
