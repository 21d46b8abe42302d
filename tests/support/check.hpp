#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <vector>

#include "base/error.hpp"
#include "codec/codec.hpp"

namespace narrowcast::test {

std::vector<std::byte> encoded(const Codec& codec, Floats values, const Encoding& how = {});
std::vector<float> decoded(const Codec& codec, Bytes message, std::size_t count, int exponent = 0);
std::vector<float> round_trip(const Codec& codec, Floats values, const Encoding& how = {});

// Equal bit for bit, except that NaN equals NaN.
testing::AssertionResult same_values(Floats actual, Floats expected);
testing::AssertionResult same_bytes(Bytes actual, Bytes expected);

// `out` is as near to `in` as the codec promises. Blocks that hold something not finite are the
// business of keeps_non_finite_promise.
testing::AssertionResult keeps_error_promise(const Codec& codec, Floats in, Floats out);
testing::AssertionResult keeps_non_finite_promise(const Codec& codec, Floats in, Floats out);

// The most a finite value of this block may be off.
double promised_error(const Promise& promise, float value, double block_max);

// The values that share a block with index i.
Floats block_of(const Codec& codec, Floats values, std::size_t i);
double largest_magnitude(Floats values);

// The fault that a call ends with; none when it returns.
template <class Call>
std::optional<Fault> fault_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.fault();
  }
  return std::nullopt;
}

}  // namespace narrowcast::test
