#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "tests/support/check.hpp"
#include "tests/support/inputs.hpp"

// Facts that the papers print, checked one by one.
namespace narrowcast::test {
namespace {

// `value` beside a maximum of 1, as a codec gives it back.
float beside_one(const char* spec, float value) {
  return round_trip(*make_codec(spec), std::vector<float>{value, 1.0f})[0];
}

double rounded(float value, int digits) {
  const double scale = std::pow(10.0, digits);
  return std::round(double{value} * scale) / scale;
}

// Every value that a codec of one byte has, relative to a maximum of 1 in the same block.
std::set<float> distinct_values(const char* spec) {
  const auto codec = make_codec(spec);
  std::set<float> values;
  constexpr std::size_t kBlock = 4096;
  for (int decade = -9; decade <= 3; ++decade) {
    std::vector<float> x(3 * kBlock);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double magnitude =
          std::pow(10.0, decade) * (1 + 9 * static_cast<double>(i) / double{3 * kBlock});
      x[i] = static_cast<float>(i % 2 == 0 ? magnitude : -magnitude);
      if (decade < 0 && i % kBlock == 0) x[i] = 1;
    }
    for (const float value : round_trip(*codec, x))
      if (decade < 0 || std::string_view(spec).find("block") == std::string_view::npos)
        values.insert(value);
  }
  return values;
}

TEST(Dettmers, WorkedExamplesComeOutAsPrinted) {
  EXPECT_EQ(rounded(beside_one("dynamic8", 0.2345678f), 6), 0.236719);
  EXPECT_EQ(rounded(beside_one("static8", 0.2345678f), 6), 0.23125);
  EXPECT_EQ(rounded(beside_one("mantissa8", 0.2345678f), 6), 0.2);
  EXPECT_EQ(rounded(beside_one("dynamic8", 0.0000234f), 6), 0.000019);
}

TEST(Dettmers, RelativeTypesHaveTwoHundredFiftyFiveValues) {
  EXPECT_EQ(distinct_values("dynamic8:block=4096").size(), 255u);
  EXPECT_EQ(distinct_values("linear8:block=4096").size(), 255u);
}

TEST(Dettmers, FixedTypesHaveTheirCountsAndLargestValues) {
  const std::set<float> mantissa = distinct_values("mantissa8");
  EXPECT_EQ(mantissa.size(), 2 * 114u - 1);
  EXPECT_EQ(*mantissa.rbegin(), 150.0f);
  const std::set<float> fixed = distinct_values("static8");
  EXPECT_EQ(fixed.size(), 2 * 128u - 1);
  EXPECT_EQ(*fixed.rbegin(), 92.25f);
}

TEST(Dettmers, DynamicTreeReachesFromMillionthsToOne) {
  const std::set<float> values = distinct_values("dynamic8:block=4096");
  const auto smallest = values.upper_bound(0.0f);
  EXPECT_NEAR(*smallest, 2.75e-6, 1e-12);
  EXPECT_EQ(*values.rbegin(), 1.0f);
  EXPECT_NEAR(*std::prev(values.end(), 2), 0.99140625, 1e-7);
}

TEST(Dettmers, ZeroIsZeroAndNotTheMaximum) {
  for (const char* spec : {"dynamic8", "linear8", "static8", "mantissa8"})
    EXPECT_EQ(beside_one(spec, 0.0f), 0.0f) << spec;
}

TEST(Dettmers, TheMaximumOfABlockIsExact) {
  for (const float largest : {1.0f, 3.7f, 1e-30f, 2.5e37f, 0.1f}) {
    const std::vector<float> x{largest, -largest, largest / 3};
    const std::vector<float> out = round_trip(*make_codec("dynamic8"), x);
    EXPECT_EQ(out[0], largest);
    EXPECT_EQ(out[1], -largest);
  }
}

TEST(Dettmers, ThePaperRoundsDownInEverySecondInterval) {
  const auto error = [](const char* spec) {
    const std::vector<float> x = normal(100'000);
    const std::vector<float> out = round_trip(*make_codec(spec), x);
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += std::fabs((double{x[i]} - out[i]) / x[i]);
    return sum / static_cast<double>(x.size());
  };
  const double nearest = error("dynamic8:block=0,rounding=nearest");
  const double paper = error("dynamic8:block=0,rounding=paper");
  EXPECT_GT(paper, 1.2 * nearest);
  EXPECT_LT(paper, 1.7 * nearest);
}

TEST(Qsgd, CostsAsManyBitsAsThePaperSays) {
  const auto bits = [](const char* spec, std::size_t values) {
    return 8 * static_cast<double>(make_codec(spec)->max_bytes(values)) /
           static_cast<double>(values);
  };
  EXPECT_EQ(bits("qsgd:bits=2", 128 * 64), 2.25);
  EXPECT_EQ(bits("qsgd:bits=4", 512 * 64), 4.0625);
  EXPECT_EQ(bits("qsgd:bits=8", 512 * 64), 8.0625);
  EXPECT_EQ(bits("qsgd:bits=16", 8192 * 64), 16 + 32.0 / 8192);
}

TEST(Qsgd, KnowsTheBucketOfEachNumberOfBits) {
  for (const auto& [bits, bucket] : {std::pair{2, 128}, {3, 128}, {4, 512}, {8, 512}, {16, 8192}}) {
    const std::string spec = "qsgd:bits=" + std::to_string(bits);
    EXPECT_EQ(make_codec(spec)->spec(),
              make_codec(spec + ",bucket=" + std::to_string(bucket))->spec());
  }
}

TEST(Qsgd, EliasCodingGivesTheSameValuesInFewerBytesWhenMostAreZero) {
  std::vector<float> x(5000);
  for (std::size_t i = 0; i < x.size(); i += 50) x[i] = static_cast<float>(i) - 2500.0f;
  for (const char* bits : {"2", "4", "8"}) {
    const std::string spec = std::string("qsgd:bits=") + bits;
    const auto fixed = make_codec(spec + ",coding=fixed");
    const auto elias = make_codec(spec + ",coding=elias");
    const Encoding how{.stream = stream_of({.seed = 4})};
    EXPECT_TRUE(same_values(round_trip(*elias, x, how), round_trip(*fixed, x, how)));
    EXPECT_LT(encoded(*elias, x, how).size(), encoded(*fixed, x, how).size());
  }
}

TEST(OneBit, TakesTwoFloatsAndABitForEachRow) {
  for (const std::size_t rows : {1, 3, 31, 32, 33, 64, 512}) {
    const auto codec = make_codec("onebit:column=" + std::to_string(rows));
    EXPECT_EQ(codec->max_bytes(rows), 8 + 4 * ((rows + 31) / 32)) << rows;
    EXPECT_EQ(codec->max_bytes(5 * rows), 5 * (8 + 4 * ((rows + 31) / 32))) << rows;
  }
}

TEST(OneBit, ReconstructsEachSideToItsMean) {
  const std::vector<float> x{1, 2, 6, -1, -4, 0, 0.5f, -1};
  const std::vector<float> out = round_trip(*make_codec("onebit:column=8"), x);
  const float above = (1 + 2 + 6 + 0 + 0.5f) / 5;  // zero is not negative
  const float below = (-1 - 4 - 1) / 3.0f;
  EXPECT_TRUE(
      same_values(out, std::vector<float>{above, above, above, below, below, above, above, below}));
}

TEST(OneBit, MayDivideAtTheMeanOfTheColumn) {
  const std::vector<float> x{10, 11, 12, 13};
  const std::vector<float> out = round_trip(*make_codec("onebit:column=4,threshold=mean"), x);
  EXPECT_TRUE(same_values(out, std::vector<float>{10.5f, 10.5f, 12.5f, 12.5f}));
}

TEST(Aps, ScalingByAPowerOfTwoLeavesTheMantissaAlone) {
  const auto codec = make_codec("float:e=4,m=3");
  const std::vector<float> x{1.0e-6f, -3.0e-6f, 7.0e-6f};
  EXPECT_EQ(round_trip(*codec, x)[0], 0.0f);
  const std::vector<float> out = round_trip(*codec, x, {.exponent = 20});
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(out[i] / x[i], 1, 1.0 / 16);
}

// Defects of CPD that its users know.
TEST(Aps, CastsWhereCpdDoesNot) {
  const auto codec = make_codec("float:e=5,m=2");
  const std::vector<float> x{61440.0f, 7.6293954e-06f, 1e-45f};
  const std::vector<float> out = round_trip(*codec, x);
  EXPECT_EQ(out[0], INFINITY);
  EXPECT_EQ(out[1], std::ldexp(1.0f, -16));
  EXPECT_EQ(out[2], 0.0f);
  EXPECT_EQ(round_trip(*make_codec("float:e=4,m=3"), std::vector<float>{240.0f, 255.0f})[0], 240);
}

}  // namespace
}  // namespace narrowcast::test
