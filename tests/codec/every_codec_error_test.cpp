#include <gtest/gtest.h>

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
