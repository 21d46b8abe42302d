#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/support/catalogue.hpp"
#include "tests/support/check.hpp"
#include "tests/support/inputs.hpp"

namespace narrowcast::test {
namespace {

const Stream kDice = stream_of({.seed = 5});

std::vector<float> sum_of(Floats a, Floats b) {
  std::vector<float> sum(a.begin(), a.end());
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += b[i];
  return sum;
}

float left_over(float x, float decoded) {
  const float rest = x - decoded;
  return std::isfinite(rest) ? rest : 0;
}

TEST(EveryCodecWithAResidual, EncodesTheSumAndLeavesWhatWasLost) {
  for_every_codec([](const Codec& codec) {
    for (const int exponent : {0, 5, -5})
      for (const Input& input : any_inputs(codec, 5000)) {
        SCOPED_TRACE(input.name + ", exponent " + std::to_string(exponent));
        std::vector<float> residual = normal(5000, 21);
        const std::vector<float> x = sum_of(input.values, residual);
        const std::vector<std::byte> message = encoded(
            codec, input.values, {.stream = kDice, .exponent = exponent, .residual = residual});
        EXPECT_TRUE(
            same_bytes(message, encoded(codec, x, {.stream = kDice, .exponent = exponent})));
        std::vector<float> expected = decoded(codec, message, 5000, exponent);
        for (std::size_t i = 0; i < x.size(); ++i) expected[i] = left_over(x[i], expected[i]);
        EXPECT_TRUE(same_values(residual, expected));
      }
  });
}

TEST(EveryCodecWithAResidual, TakesAnyNumberOfValues) {
  for_every_codec([](const Codec& codec) {
    for (const std::size_t count : awkward_counts(codec)) {
      const std::vector<float> in = normal(count);
      std::vector<float> residual = normal(count, 22);
      const std::vector<float> x = sum_of(in, residual);
      const std::vector<std::byte> message =
          encoded(codec, in, {.stream = kDice, .residual = residual});
      EXPECT_TRUE(same_bytes(message, encoded(codec, x, {.stream = kDice}))) << count;
    }
  });
}

// Over many steps nothing is lost: what was sent and what is left add up to what came in.
TEST(EveryCodecWithAResidual, SendsEverythingInTheEnd) {
  for_every_codec([](const Codec& codec) {
    constexpr std::size_t kCount = 512;
    constexpr int kSteps = 50;
    // Far from overflow, where what is lost is lost.
    const auto unit = static_cast<float>(std::min(1.0, codec.promise().largest / 100));
    std::vector<float> residual(kCount);
    std::vector<double> sent(kCount), came(kCount);
    double largest = 0;
    for (int step = 0; step < kSteps; ++step) {
      std::vector<float> in = normal(kCount, 100 + static_cast<std::uint64_t>(step));
      for (float& value : in) value *= unit;
      const Stream dice = stream_of({.seed = 1, .step = static_cast<std::uint64_t>(step)});
      const std::vector<float> out = round_trip(codec, in, {.stream = dice, .residual = residual});
      for (std::size_t i = 0; i < kCount; ++i) {
        came[i] += in[i];
        sent[i] += out[i];
        largest = std::max({largest, std::fabs(sent[i]), std::fabs(double{residual[i]})});
      }
    }
    // Each step rounds the sum and the difference once, in float.
    const double rounding = 2 * kSteps * largest * std::numeric_limits<float>::epsilon();
    for (std::size_t i = 0; i < kCount; ++i)
      ASSERT_NEAR(came[i], sent[i] + residual[i], rounding) << i;
  });
}

TEST(EveryCodecWithAResidual, IsNotPoisonedByWhatIsNotFinite) {
  for_every_codec([](const Codec& codec) {
    if (codec.promise().non_finite == NonFinite::refuses_nan) return;
    std::vector<float> residual(3000);
    const std::vector<float> in = with_specials(normal(3000));
    encoded(codec, in, {.stream = kDice, .residual = residual});
    EXPECT_TRUE(std::ranges::all_of(residual, [](float r) { return std::isfinite(r); }));
  });
}

TEST(EveryCodecWithAResidual, LeavesItAloneWhenItRefusesNan) {
  for_every_codec([](const Codec& codec) {
    if (codec.promise().non_finite != NonFinite::refuses_nan) return;
    std::vector<float> in = normal(100);
    in[99] = std::numeric_limits<float>::quiet_NaN();
    std::vector<float> residual = normal(100, 2);
    const std::vector<float> before = residual;
    std::vector<std::byte> message(codec.max_bytes(100), std::byte{0x5a});
    const std::vector<std::byte> untouched = message;
    EXPECT_EQ(fault_of([&] { codec.encode(in, message, {.residual = residual}); }), Fault::usage);
    EXPECT_TRUE(same_values(residual, before));
    EXPECT_TRUE(same_bytes(message, untouched));
  });
}

TEST(EveryCodecWithAResidual, RefusesNanInItTooWhenItRefusesNan) {
  for_every_codec([](const Codec& codec) {
    if (codec.promise().non_finite != NonFinite::refuses_nan) return;
    const std::vector<float> in = normal(100);
    std::vector<float> residual(100);
    residual[50] = std::numeric_limits<float>::quiet_NaN();
    std::vector<std::byte> message(codec.max_bytes(100));
    EXPECT_EQ(fault_of([&] { codec.encode(in, message, {.residual = residual}); }), Fault::usage);
  });
}

}  // namespace
}  // namespace narrowcast::test
