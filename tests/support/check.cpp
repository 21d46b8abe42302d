#include "tests/support/check.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace narrowcast::test {
namespace {

bool all_finite(Floats values) {
  return std::ranges::all_of(values, [](float v) { return std::isfinite(v); });
}

testing::AssertionResult wrong(std::size_t i, float in, float out, const char* why) {
  return testing::AssertionFailure()
         << "value " << i << ": " << in << " became " << out << ", " << why;
}

// Past the largest value a codec says so, or stays at the largest with the same sign.
bool overflows_well(const Promise& promise, float in, float out) {
  if (!std::isfinite(out)) return true;
  return std::fabs(out) == static_cast<float>(promise.largest) &&
         std::signbit(in) == std::signbit(out);
}

bool is_largest(const Promise& promise, float in, float out) {
  return std::isfinite(out) && overflows_well(promise, in, out);
}

// What the promise says of the element itself.
bool element_is_as_promised(const Promise& promise, float in, float out) {
  switch (promise.non_finite) {
    case NonFinite::exact:
      return std::isnan(in) ? std::isnan(out) : out == in;
    case NonFinite::nan_becomes_inf:
      return std::isnan(in) ? std::isinf(out) : out == in;
    case NonFinite::inf_becomes_nan:
    case NonFinite::block_is_nan:
      return std::isnan(out);
    case NonFinite::nan_becomes_inf_inf_saturates:
      return std::isnan(in) ? std::isinf(out) : is_largest(promise, in, out);
    case NonFinite::saturates_inf:
      return std::isnan(in) ? std::isnan(out) : is_largest(promise, in, out);
    case NonFinite::block_not_finite:
      return !std::isfinite(out);
    case NonFinite::refuses_nan:
      return !std::isnan(in) && is_largest(promise, in, out);
  }
  return false;
}

}  // namespace

std::vector<std::byte> encoded(const Codec& codec, Floats values, const Encoding& how) {
  std::vector<std::byte> message(codec.max_bytes(values.size()));
  message.resize(codec.encode(values, message, how));
  return message;
}

std::vector<float> decoded(const Codec& codec, Bytes message, std::size_t count, int exponent) {
  std::vector<float> values(count);
  codec.decode(message, values, exponent);
  return values;
}

std::vector<float> round_trip(const Codec& codec, Floats values, const Encoding& how) {
  return decoded(codec, encoded(codec, values, how), values.size(), how.exponent);
}

testing::AssertionResult same_values(Floats actual, Floats expected) {
  if (actual.size() != expected.size())
    return testing::AssertionFailure() << actual.size() << " values, not " << expected.size();
  for (std::size_t i = 0; i < actual.size(); ++i) {
    if (std::isnan(actual[i]) && std::isnan(expected[i])) continue;
    if (std::bit_cast<std::uint32_t>(actual[i]) != std::bit_cast<std::uint32_t>(expected[i]))
      return testing::AssertionFailure() << "value " << i << " of " << actual.size() << " is "
                                         << std::hexfloat << actual[i] << ", not " << expected[i];
  }
  return testing::AssertionSuccess();
}

testing::AssertionResult same_bytes(Bytes actual, Bytes expected) {
  if (actual.size() != expected.size())
    return testing::AssertionFailure() << actual.size() << " bytes, not " << expected.size();
  const auto difference = std::ranges::mismatch(actual, expected);
  if (difference.in1 == actual.end()) return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << "byte " << difference.in1 - actual.begin() << " of " << actual.size() << " is "
         << std::to_integer<int>(*difference.in1) << ", not "
         << std::to_integer<int>(*difference.in2);
}

double promised_error(const Promise& promise, float value, double block_max) {
  return std::max({promise.of_block * block_max,
                   promise.of_value * std::fabs(static_cast<double>(value)), promise.absolute});
}

Floats block_of(const Codec& codec, Floats values, std::size_t i) {
  const std::size_t block = codec.promise().block;
  if (block == 0) return values;
  const std::size_t begin = i / block * block;
  return values.subspan(begin, std::min(block, values.size() - begin));
}

double largest_magnitude(Floats values) {
  double largest = 0;
  for (const float v : values) largest = std::max(largest, std::fabs(static_cast<double>(v)));
  return largest;
}

testing::AssertionResult keeps_error_promise(const Codec& codec, Floats in, Floats out) {
  const Promise& promise = codec.promise();
  for (std::size_t begin = 0; begin < in.size();) {
    const Floats block = block_of(codec, in, begin);
    const bool finite = all_finite(block);
    const double block_max = finite ? largest_magnitude(block) : 0;
    for (std::size_t i = begin; finite && i < begin + block.size(); ++i) {
      const double error = std::fabs(static_cast<double>(in[i]) - static_cast<double>(out[i]));
      // One value past the largest may take along those that share its scale.
      const bool past = std::max(std::fabs(static_cast<double>(in[i])),
                                 promise.of_block > 0 ? block_max : 0.0) > promise.largest;
      if (past && overflows_well(promise, in[i], out[i])) continue;
      if (!(error <= promised_error(promise, in[i], block_max))) {
        return wrong(i, in[i], out[i], "farther off than ")
               << promised_error(promise, in[i], block_max) << " (block maximum " << block_max
               << ")";
      }
    }
    begin += block.size();
  }
  return testing::AssertionSuccess();
}

testing::AssertionResult keeps_non_finite_promise(const Codec& codec, Floats in, Floats out) {
  const Promise& promise = codec.promise();
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (std::isfinite(in[i])) continue;
    if (!element_is_as_promised(promise, in[i], out[i]))
      return wrong(i, in[i], out[i], "against the promise");
    if (promise.non_finite != NonFinite::block_is_nan) continue;
    const Floats block = block_of(codec, out, i);
    if (!std::ranges::all_of(block, [](float v) { return std::isnan(v); }))
      return wrong(i, in[i], out[i], "and not all of its block became NaN");
  }
  return testing::AssertionSuccess();
}

}  // namespace narrowcast::test
