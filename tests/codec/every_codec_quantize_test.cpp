#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "codec/formats.hpp"
#include "tests/support/catalogue.hpp"
#include "tests/support/check.hpp"
#include "tests/support/inputs.hpp"
#include "tests/support/target_scope.hpp"

// Codec::quantize against encode and decode, bit for bit.
namespace narrowcast::test {
namespace {

const Stream kDice = stream_of({.seed = 5, .tensor = 3, .rank = 1});

std::vector<float> quantized(const Codec& codec, Floats in, const Encoding& how = {}) {
  std::vector<float> out(in.size(), -7.0f);
  codec.quantize(in, out, how);
  return out;
}

// What a format does depends on these alone.
std::vector<std::string> every_float_format() {
  std::vector<std::string> specs;
  for (const int e : {1, 2, 3, 4, 5, 6, 7, 8})
    for (const int m : {0, 1, 2, 3, 7, 10, 21, 22, 23})
      for (const char* kind : {"ieee", "fn", "finite"})
        for (const char* overflow : {"inf", "saturate"}) {
          if (std::string(kind) == "finite" && std::string(overflow) == "inf") continue;
          specs.push_back("float:e=" + std::to_string(e) + ",m=" + std::to_string(m) +
                          ",kind=" + kind + ",overflow=" + overflow);
        }
  return specs;
}

// Every value of a small format or many of a large one, what lies in the middle, and their
// neighbours, on both sides.
std::vector<float> around_values(const kernel::Format& format) {
  std::vector<float> points;
  const std::uint32_t step = format.largest / 300 + 1;
  for (std::uint32_t magnitude = 0; magnitude <= format.largest; magnitude += step) {
    const int m = 23 - format.shift;
    const auto value_of = [&](std::uint32_t code) {
      const auto field = static_cast<int>(code >> m);
      const double fraction = code & ((1u << m) - 1);
      const double places = field == 0 ? fraction : fraction + std::ldexp(1.0, m);
      return std::ldexp(places, format.emin - m + std::max(field, 1) - 1);
    };
    for (const double x :
         {value_of(magnitude), (value_of(magnitude) + value_of(magnitude + 1)) / 2,
          value_of(format.largest - magnitude),
          (value_of(format.largest - magnitude) + value_of(format.largest - magnitude + 1)) / 2}) {
      const auto near = static_cast<float>(x);
      for (const float point : {near, std::nextafter(near, 0.0f), std::nextafter(near, INFINITY)})
        points.insert(points.end(), {point, -point});
    }
  }
  return points;
}

TEST(EveryCodec, QuantizesToWhatItsBytesDecodeTo) {
  for_every_codec([](const Codec& codec) {
    for (const Input& input : any_inputs(codec, codec.promise().block + 1011))
      for (const int exponent : {0, 7, -kMaxExponent}) {
        SCOPED_TRACE(input.name + ", exponent " + std::to_string(exponent));
        const Encoding how{.stream = kDice, .exponent = exponent};
        EXPECT_TRUE(
            same_values(quantized(codec, input.values, how), round_trip(codec, input.values, how)));
      }
  });
}

TEST(EveryCodec, QuantizesAnyCountInPlaceOnEveryTarget) {
  for_every_codec([](const Codec& codec) {
    for (const std::size_t count : awkward_counts(codec)) {
      std::vector<float> x = normal(count);
      if (codec.promise().non_finite != NonFinite::refuses_nan) x = with_specials(x);
      const std::vector<float> expected = round_trip(codec, x, {.stream = kDice});
      for (const std::string& target : cpu_targets()) {
        const TargetScope scope(target);
        std::vector<float> in_place = x;
        codec.quantize(in_place, in_place, {.stream = kDice});
        ASSERT_TRUE(same_values(in_place, expected)) << target << ", " << count << " values";
      }
    }
  });
}

TEST(EveryCodec, QuantizesPartsAsItDoesTheWhole) {
  for_every_codec([](const Codec& codec) {
    const std::size_t block = codec.promise().block;
    if (block == 0) return;
    const std::vector<float> x = normal(3 * block + 5);
    const std::vector<float> whole = quantized(codec, x, {.stream = kDice});
    const std::vector<float> end =
        quantized(codec, Floats(x).subspan(2 * block), {.stream = kDice, .first_index = 2 * block});
    EXPECT_TRUE(same_values(end, Floats(whole).subspan(2 * block)));
  });
}

TEST(EveryCodec, LeavesTheSameResidualWhenItQuantizes) {
  for_every_codec([](const Codec& codec) {
    const std::vector<float> x = normal(codec.promise().block + 300);
    std::vector<float> by_bytes(x.size(), 0.25f);
    std::vector<float> directly = by_bytes;
    const std::vector<float> expected =
        round_trip(codec, x, {.stream = kDice, .exponent = 2, .residual = by_bytes});
    EXPECT_TRUE(same_values(
        quantized(codec, x, {.stream = kDice, .exponent = 2, .residual = directly}), expected));
    EXPECT_TRUE(same_values(directly, by_bytes));
  });
}

TEST(EveryFloatFormat, QuantizesToTheValuesOfItsCodesOnEveryTarget) {
  for (const std::string& spec : every_float_format()) {
    SCOPED_TRACE(spec);
    const std::unique_ptr<Codec> codec = make_codec(spec);
    std::vector<float> x = around_values(*float_format(*codec));
    for (const Input& input : any_inputs(*codec, 200))
      x.insert(x.end(), input.values.begin(), input.values.end());
    if (codec->promise().non_finite != NonFinite::refuses_nan)
      for (const std::uint32_t bits : {0x7fffffffu, 0xffffffffu, 0x7f800001u, 0xff80ffffu})
        x.push_back(std::bit_cast<float>(bits));
    const std::vector<float> expected = round_trip(*codec, x);
    for (const std::string& target : cpu_targets()) {
      const TargetScope scope(target);
      ASSERT_TRUE(same_values(quantized(*codec, x), expected)) << target;
    }
  }
}

TEST(EveryCodec, RefusesToQuantizeIntoAnotherNumberOfValues) {
  const std::vector<float> x(3);
  std::vector<float> out(4);
  EXPECT_EQ(Fault::usage, fault_of([&] { make_codec("bf16")->quantize(x, out); }));
}

}  // namespace
}  // namespace narrowcast::test
