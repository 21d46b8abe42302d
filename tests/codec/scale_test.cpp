#include "codec/scale.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "tests/support/check.hpp"

// Auto precision scaling against the codecs themselves.
namespace narrowcast::test {
namespace {

constexpr const char* kSmall[] = {"float:e=2,m=1",
                                  "float:e=3,m=0",
                                  "float:e=3,m=2",
                                  "float:e=4,m=3",
                                  "float:e=5,m=2",
                                  "float:e=4,m=1,kind=fn",
                                  "float:e=4,m=3,rounding=zero",
                                  "e4m3",
                                  "e5m2"};

// Magnitudes between two powers of two, at and around all values of a format and all midpoints.
std::vector<float> magnitudes(float from) {
  std::vector<float> all;
  for (int i = 0; i < 64; ++i) {
    const float value = from * (1 + static_cast<float>(i) / 64);
    all.insert(all.end(), {std::nextafter(value, 0.0F), value, std::nextafter(value, HUGE_VALF)});
  }
  return all;
}

// Rounds value by value, under an exponent.
class Rounding {
 public:
  Rounding(const Codec& codec, int exponent) : codec_(codec), exponent_(exponent) {}
  float operator()(float value) const {
    float back = 0;
    std::byte bytes[sizeof(float)];
    const std::size_t used = codec_.encode({&value, 1}, bytes, {.exponent = exponent_});
    codec_.decode(Bytes(bytes).first(used), {&back, 1}, exponent_);
    return back;
  }

 private:
  const Codec& codec_;
  int exponent_;
};

// When sums are rounded: once; after each addition; the same, and what is added is not (a ring).
enum class Adding { at_once, one_by_one, passing_on };
constexpr Adding kAddings[] = {Adding::at_once, Adding::one_by_one, Adding::passing_on};

float sum_of(const Rounding& round, int addends, float share, Adding adding) {
  const float addend = adding == Adding::passing_on ? share : round(share);
  float sum = round(share);
  for (int i = 1; i < addends; ++i) {
    sum += addend;
    if (adding != Adding::at_once) sum = round(sum);
  }
  return round(sum);
}

bool is_lost(const Rounding& round, int addends, float share) {
  return std::ranges::any_of(kAddings, [&](Adding adding) {
    return !std::isfinite(sum_of(round, addends, share, adding));
  });
}

bool has_room(const Codec& codec, int ranks) {
  return ceiling_of(Grid(codec), {.ranks = ranks}) > 0;
}

TEST(Grid, HasTheValuesOfTheCodec) {
  for (const char* spec : {"float:e=2,m=1", "float:e=3,m=0", "float:e=4,m=3", "float:e=5,m=2",
                           "float:e=1,m=4", "float:e=3,m=2,kind=finite", "e4m3", "e5m2", "fp16"}) {
    SCOPED_TRACE(spec);
    const auto codec = make_codec(spec);
    const Grid grid(*codec);
    EXPECT_EQ(grid.at(grid.size() - 1), codec->promise().largest);
    std::set<double> values;
    for (std::uint64_t i = 0; i < grid.size(); ++i) {
      const auto value = static_cast<float>(grid.at(i));
      EXPECT_EQ(round_trip(*codec, {&value, 1})[0], value);
      values.insert(grid.at(i));
      if (i == 0) continue;
      // Nothing lies between two neighbours.
      const auto middle = static_cast<float>((grid.at(i - 1) + grid.at(i)) / 2);
      const double back = round_trip(*codec, {&middle, 1})[0];
      EXPECT_TRUE(back == grid.at(i - 1) || back == grid.at(i)) << back;
      EXPECT_GE(grid.rounded(middle), back);
    }
    EXPECT_EQ(values.size(), grid.size());
  }
}

std::vector<int> numbers_of_ranks() {
  std::vector<int> numbers = {23, 31, 33, 47, 48, 63, 64, 70};
  for (int ranks = 1; ranks <= 20; ++ranks) numbers.push_back(ranks);
  return numbers;
}

TEST(Scaling, NeverLetsASumOverflowInAnyOrder) {
  for (const char* spec : kSmall) {
    const auto codec = make_codec(spec);
    for (const int ranks : numbers_of_ranks()) {
      if (!has_room(*codec, ranks)) continue;
      for (const Scaling scaling : {Scaling::aps, Scaling::aps_tight}) {
        const Scale scale(*codec, scaling, {.ranks = ranks});
        for (const float share : magnitudes(0.03125F)) {
          const int k = scale.exponent(share);
          EXPECT_FALSE(is_lost({*codec, k}, ranks, share))
              << spec << ", " << ranks << " times " << share << ", 2^" << k;
        }
      }
    }
  }
}

TEST(Scaling, NeverLetsASumOfGroupsOverflowWithWhatOwnersHoldBack) {
  for (const char* spec : {"float:e=4,m=0", "float:e=4,m=1", "float:e=4,m=3", "e4m3"}) {
    const auto codec = make_codec(spec);
    for (const int groups : {2, 3, 7})
      for (const int group : {2, 3, 5}) {
        const Scale scale(*codec, Scaling::aps_tight,
                          {.ranks = groups * group, .group = group, .held = 1});
        for (const float share : magnitudes(1)) {
          const Rounding round(*codec, scale.exponent(share));
          for (const Adding within : kAddings) {
            const float of_group = sum_of(round, group + 1, share, within);
            EXPECT_FALSE(is_lost(round, groups + 1, of_group))
                << spec << ", " << groups << " groups of " << group << ", " << share;
          }
        }
      }
  }
}

TEST(Scaling, IsTheFactorOfThePaper) {
  for (const char* spec : {"float:e=4,m=3", "float:e=5,m=2"}) {
    const auto codec = make_codec(spec);
    const int power = static_cast<int>(std::floor(std::log2(codec->promise().largest)));
    for (const int ranks : {1, 2, 3, 8, 19, 64})
      for (const float share : magnitudes(3e-6F)) {
        const double e = std::ceil(std::log2(static_cast<double>(ranks) * share));
        EXPECT_EQ(Scale(*codec, Scaling::aps, {.ranks = ranks}).exponent(share), power - e);
      }
  }
}

TEST(Scaling, OfThePaperHasThePowerOfEachFormat) {
  // One rank, the value 1: the factor is the largest power of two in the format.
  const std::pair<const char*, int> powers[] = {
      {"float:e=4,m=3", 7}, {"float:e=5,m=2", 15}, {"float:e=3,m=0", 3}, {"float:e=8,m=7", 126},
      {"e4m3", 8},          {"e5m2", 15},          {"float:e=2,m=1", 1}, {"fp16", 15}};
  for (const auto& [spec, power] : powers)
    EXPECT_EQ(Scale(*make_codec(spec), Scaling::aps, {}).exponent(1), power) << spec;
}

// The largest share that is rounded like this one.
float furthest(const Codec& codec, float share, int exponent) {
  const float rounded = Rounding(codec, exponent)(share);
  float far = share;
  for (float next = far; std::isfinite(next) && Rounding(codec, exponent)(next) == rounded;
       next *= 1.01F)
    far = next;
  return far;
}

TEST(TightScaling, IsTwiceThatOfThePaperWhereverThereIsRoom) {
  for (const char* spec : {"float:e=3,m=2", "float:e=4,m=3", "float:e=5,m=2", "e5m2"}) {
    const auto codec = make_codec(spec);
    int doubled = 0;
    int same = 0;
    for (const int ranks : numbers_of_ranks()) {
      const Scale paper(*codec, Scaling::aps, {.ranks = ranks});
      const Scale tight(*codec, Scaling::aps_tight, {.ranks = ranks});
      for (const float share : magnitudes(1)) {
        const int k = paper.exponent(share);
        const int more = tight.exponent(share) - k;
        ASSERT_TRUE(more == 0 || more == 1) << more;
        ++(more == 1 ? doubled : same);
        if (more == 1) continue;
        const float far = furthest(*codec, share, k + 1);
        EXPECT_TRUE(is_lost({*codec, k + 1}, ranks, far))
            << spec << ", " << ranks << " times " << share;
      }
    }
    EXPECT_GT(doubled, same) << spec;
  }
}

TEST(Scaling, StaysWithinWhatCodecsTake) {
  const Scale scale(*make_codec("float:e=4,m=3"), Scaling::aps, {.ranks = 8});
  EXPECT_EQ(scale.exponent(std::numeric_limits<float>::denorm_min()), kMaxExponent);
  EXPECT_EQ(scale.exponent(std::numeric_limits<float>::min()), kMaxExponent);
  EXPECT_EQ(scale.exponent(std::numeric_limits<float>::max()), 7 - 131);
  const Scale tiny(*make_codec("float:e=2,m=1"), Scaling::aps, {.ranks = 4});
  EXPECT_EQ(tiny.exponent(std::numeric_limits<float>::max()), -kMaxExponent);
}

TEST(Scaling, TravelsAsAByteWhoseLargestIsTheSmallestFactor) {
  const Scale scale(*make_codec("e4m3"), Scaling::aps_tight, {.ranks = 3});
  EXPECT_EQ(scale.code(0), 0);
  EXPECT_EQ(Scale::exponent_of(0), 0);
  std::uint8_t before = 1;
  for (float share = std::numeric_limits<float>::denorm_min(); std::isfinite(share);
       share *= 1.5F) {
    const std::uint8_t code = scale.code(share);
    EXPECT_GE(code, before);
    EXPECT_EQ(Scale::exponent_of(code), scale.exponent(share));
    before = code;
    if (share < 1e-44F) share *= 2;
  }
  for (int code = 1; code < 256; ++code)
    EXPECT_LE(std::abs(Scale::exponent_of(static_cast<std::uint8_t>(code))), kMaxExponent);
}

TEST(Scaling, RefusesWhatHasNoRoomAndWhatIsNoFloatFormat) {
  const auto fault = [](const char* spec, int ranks) {
    const auto codec = make_codec(spec);
    return fault_of([&] { Scale(*codec, Scaling::aps, {.ranks = ranks}); });
  };
  EXPECT_EQ(fault("float:e=2,m=1", 64), Fault::usage);
  EXPECT_EQ(fault("dynamic8", 2), Fault::usage);
  EXPECT_EQ(fault("fp32", 2), Fault::usage);
  EXPECT_EQ(fault("mxfp8", 2), Fault::usage);
  EXPECT_EQ(fault("float:e=4,m=3,rounding=stochastic", 16), std::nullopt);
}

}  // namespace
}  // namespace narrowcast::test
