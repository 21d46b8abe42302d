#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/catalogue.hpp"
#include "tests/support/check.hpp"
#include "tests/support/inputs.hpp"

namespace narrowcast::test {
namespace {

TEST(EveryCodec, KeepsItsPromisedError) {
  for_every_codec([](const Codec& codec) {
    const std::size_t block = codec.promise().block;
    for (const std::size_t count : {std::size_t{1}, std::size_t{700}, 2 * block + 5})
      for (const Input& input : finite_inputs(count))
        for (const std::uint64_t seed : {1, 2, 3}) {
          const Encoding how{.stream = stream_of({.seed = seed})};
          EXPECT_TRUE(
              keeps_error_promise(codec, input.values, round_trip(codec, input.values, how)))
              << input.name << " " << count;
        }
  });
}

// The values between which a codec has to choose lie where its error is largest: the midpoints of
// what it decodes to, and the floats beside them.
std::vector<float> around_midpoints(const Codec& codec, float largest) {
  constexpr int kGrid = 4000;
  std::vector<float> grid;
  for (int i = -kGrid; i <= kGrid; ++i)
    grid.push_back(largest * (static_cast<float>(i) / static_cast<float>(kGrid)));
  std::vector<float> levels = round_trip(codec, grid);
  std::sort(levels.begin(), levels.end());
  levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
  std::vector<float> values;
  for (std::size_t i = 0; i + 1 < levels.size(); ++i) {
    float value = levels[i] + (levels[i + 1] - levels[i]) / 2;
    for (int step = 0; step < 3; ++step) value = std::nextafter(value, -largest);
    for (int step = 0; step < 7; ++step, value = std::nextafter(value, largest))
      values.push_back(value);
  }
  return values;
}

TEST(EveryCodec, KeepsItsPromisedErrorAroundMidpoints) {
  for_every_codec([](const Codec& codec) {
    const Promise& promise = codec.promise();
    if (promise.of_block == 0 && promise.of_value == 0) return;
    // Scales with few and with many bits, of the middle and from the ends of the range.
    for (const float largest : {1.0f, 1.7294966f, 0.3333333f, 7e-5f, 1e30f, 2.5e38f, 1e-30f}) {
      if (largest > promise.largest) continue;
      std::vector<float> values = around_midpoints(codec, largest);
      // Each block has the largest value in it, so that all have the same scale.
      const std::size_t stride =
          promise.block == 0 ? values.size() : std::max<std::size_t>(2, promise.block);
      for (std::size_t i = 0; i < values.size(); i += stride) values[i] = largest;
      EXPECT_TRUE(keeps_error_promise(codec, values, round_trip(codec, values))) << largest;
    }
  });
}

// A promise that nothing comes near to would hold for a worse codec too.
TEST(EveryCodec, PromisesNoMoreThanTenTimesTheErrorItMakes) {
  for_every_codec([](const Codec& codec) {
    const Promise& promise = codec.promise();
    if (promise.of_block == 0 && promise.of_value == 0) return;
    double nearest = 0;
    for (const Input& input : finite_inputs(8192)) {
      const std::vector<float> out = round_trip(codec, input.values);
      for (std::size_t i = 0; i < out.size(); ++i) {
        const double magnitude = std::fabs(static_cast<double>(input.values[i]));
        const double bound = promised_error(promise, input.values[i],
                                            largest_magnitude(block_of(codec, input.values, i)));
        if (bound <= promise.absolute || magnitude > promise.largest) continue;
        const double error = std::fabs(static_cast<double>(input.values[i]) - out[i]);
        nearest = std::max(nearest, error / bound);
      }
    }
    EXPECT_GT(nearest, 0.1);
  });
}

TEST(EveryCodec, LosesNothingOfZerosWhereItPromisesErrorsInProportion) {
  for_every_codec([](const Codec& codec) {
    if (codec.promise().absolute != 0) return;
    const std::vector<float> zeros(1000);
    for (const float value : round_trip(codec, zeros)) ASSERT_EQ(value, 0);
  });
}

TEST(EveryCodec, SaysWhenAValueIsPastItsLargest) {
  for_every_codec([](const Codec& codec) {
    const double largest = codec.promise().largest;
    if (largest >= std::numeric_limits<float>::max()) return;
    const auto past = static_cast<float>(largest * 1.5);
    const std::vector<float> x{past, -past, static_cast<float>(largest * 1000), 3e38f};
    const std::vector<float> out = round_trip(codec, x);
    EXPECT_TRUE(keeps_error_promise(codec, x, out));
    const std::vector<float> at{static_cast<float>(largest), -static_cast<float>(largest)};
    EXPECT_TRUE(keeps_error_promise(codec, at, round_trip(codec, at)));
  });
}

TEST(EveryCodec, KeepsWhatItDecodedWhenEachValueStandsForItself) {
  for_every_codec([](const Codec& codec) {
    // The kernel of the paper moves even its own values inward.
    if (!is_element_wise(codec) || codec.spec().ends_with("rounding=paper")) return;
    for (const Input& input : finite_inputs(1000)) {
      const std::vector<float> once = round_trip(codec, input.values);
      EXPECT_TRUE(same_values(round_trip(codec, once), once)) << input.name;
    }
  });
}

TEST(EveryCodec, GivesTheSameBytesForTheSameInput) {
  for_every_codec([](const Codec& codec) {
    const std::unique_ptr<Codec> twin = make_codec(codec.spec());
    for (const Input& input : any_inputs(codec, 777)) {
      const std::vector<std::byte> first = encoded(codec, input.values);
      EXPECT_TRUE(same_bytes(encoded(codec, input.values), first)) << input.name;
      EXPECT_TRUE(same_bytes(encoded(*twin, input.values), first)) << input.name;
    }
  });
}

}  // namespace
}  // namespace narrowcast::test
