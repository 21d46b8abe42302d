// The 16-bit floats everybody has: binary16 and bfloat16, rounded to the nearest even.
//
//   wire:   u16 per value
//
// fp16 good for:  values within 6e-8 .. 65504, three decimal digits.
// bf16 good for:  the range of float32, two decimal digits.
// Non-finite: exact; a NaN comes back as the quiet NaN, whatever its sign and payload were.
#include "codec/formats.hpp"
#include "codec/spec.hpp"

namespace narrowcast {

std::unique_ptr<Codec> make_fp16(const Options& options) {
  return make_format_codec(options.canonical(), {.exponent_bits = 5, .mantissa_bits = 10});
}

std::unique_ptr<Codec> make_bf16(const Options& options) {
  return make_format_codec(options.canonical(), {.exponent_bits = 8, .mantissa_bits = 7});
}

}  // namespace narrowcast
