#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/catalogue.hpp"
#include "tests/support/check.hpp"
#include "tests/support/inputs.hpp"

namespace narrowcast::test {
namespace {

std::vector<float> scaled(Floats values, int exponent) {
  std::vector<float> out(values.begin(), values.end());
  for (float& value : out) value = std::ldexp(value, exponent);
  return out;
}

TEST(EveryCodec, AccumulatesWhatItDecodes) {
  for_every_codec([](const Codec& codec) {
    for (const std::size_t count : awkward_counts(codec)) {
      const std::vector<float> before = normal(count, 3);
      for (const Input& input : any_inputs(codec, count)) {
        const std::vector<std::byte> message = encoded(codec, input.values);
        const std::vector<float> values = decoded(codec, message, count);
        std::vector<float> sum = before;
        codec.accumulate(message, sum);
        std::vector<float> expected = before;
        for (std::size_t i = 0; i < count; ++i) expected[i] += values[i];
        ASSERT_TRUE(same_values(sum, expected)) << input.name << " " << count;
      }
    }
  });
}

TEST(EveryCodec, DividesByThePowerOfTwoThatItIsGiven) {
  for_every_codec([](const Codec& codec) {
    const std::vector<float> x = normal(1500);
    const std::vector<std::byte> message = encoded(codec, x);
    const std::vector<float> plain = decoded(codec, message, x.size());
    for (const int exponent : {1, -1, 17, -17, 60, -60}) {
      const std::vector<float> expected = scaled(plain, -exponent);
      EXPECT_TRUE(same_values(decoded(codec, message, x.size(), exponent), expected)) << exponent;
      std::vector<float> sum(x.size(), 0.5f);
      codec.accumulate(message, sum, exponent);
      for (std::size_t i = 0; i < sum.size(); ++i) ASSERT_EQ(sum[i], 0.5f + expected[i]);
    }
  });
}

TEST(EveryCodec, EncodesTheProductWithThePowerOfTwo) {
  for_every_codec([](const Codec& codec) {
    for (const std::size_t count : {0, 1, 65, 9000}) {
      const std::vector<float> x = normal(static_cast<std::size_t>(count));
      for (const int exponent : {1, -1, 9, -9, 60, -60})
        EXPECT_TRUE(same_bytes(encoded(codec, x, {.exponent = exponent}),
                               encoded(codec, scaled(x, exponent))))
            << count << " values, exponent " << exponent;
    }
  });
}

TEST(EveryCodec, KeepsItsPromiseUnderAnExponentToTheLimits) {
  for_every_codec([](const Codec& codec) {
    for (const int exponent : {-kMaxExponent, -8, 8, kMaxExponent}) {
      // Values that the exponent brings to 1 or below, where every format is at home.
      std::vector<float> x = scaled(normal(3000), -exponent);
      for (float& value : x)
        value = std::clamp(value, -std::ldexp(1.0f, -exponent), std::ldexp(1.0f, -exponent));
      const std::vector<float> y = scaled(x, exponent);
      const std::vector<float> out = round_trip(codec, x, {.exponent = exponent});
      EXPECT_TRUE(keeps_error_promise(codec, y, scaled(out, exponent))) << exponent;
    }
  });
}

TEST(EveryCodec, ReadsNothingOfWhatItOverwrites) {
  for_every_codec([](const Codec& codec) {
    const std::vector<float> x = normal(333);
    const std::vector<std::byte> message = encoded(codec, x);
    std::vector<float> out = with_specials(normal(333, 9));
    codec.decode(message, out);
    EXPECT_TRUE(same_values(out, decoded(codec, message, x.size())));
  });
}

// Senders and receivers cut buffers anywhere: no kernel may count on alignment.
TEST(EveryCodec, WorksOnUnalignedMemory) {
  for_every_codec([](const Codec& codec) {
    const std::vector<float> x = normal(1001);
    const Floats shifted = Floats(x).subspan(1);
    std::vector<float> aligned(shifted.begin(), shifted.end());
    const std::vector<std::byte> expected = encoded(codec, aligned);
    std::vector<std::byte> message(codec.max_bytes(1000) + 3);
    const MutableBytes inside = MutableBytes(message).subspan(3);
    const std::size_t used = codec.encode(shifted, inside);
    EXPECT_TRUE(same_bytes(inside.first(used), expected));
    std::vector<float> out(1001);
    codec.decode(inside.first(used), MutableFloats(out).subspan(1));
    EXPECT_TRUE(same_values(Floats(out).subspan(1), decoded(codec, expected, 1000)));
  });
}

}  // namespace
}  // namespace narrowcast::test
