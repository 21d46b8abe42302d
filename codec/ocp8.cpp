// The 8-bit floats of the Open Compute Project (OFP8): E4M3 without infinity, E5M2 as IEEE.
//
//   wire:   u8 per value
//
// Good for:   values whose range is known or scaled into it (APS); hardware has the same formats.
// Bad for:    unscaled gradients: below 2^-9 (e4m3) or 2^-16 (e5m2) they vanish.
// Non-finite: overflow=special turns overflow and infinity into NaN (e4m3) or infinity (e5m2);
//             overflow=saturate into the largest value. NaN stays NaN.
#include "codec/formats.hpp"
#include "codec/spec.hpp"

namespace narrowcast {
namespace {

kernel::Overflow overflow_of(const Options& options) {
  return options.word("overflow") == "saturate" ? kernel::Overflow::saturate
                                                : kernel::Overflow::special;
}

}  // namespace

std::unique_ptr<Codec> make_e4m3(const Options& options) {
  return make_format_codec(options.canonical(), {.exponent_bits = 4,
                                                 .mantissa_bits = 3,
                                                 .kind = kernel::Kind::fn,
                                                 .overflow = overflow_of(options)});
}

std::unique_ptr<Codec> make_e5m2(const Options& options) {
  return make_format_codec(
      options.canonical(),
      {.exponent_bits = 5, .mantissa_bits = 2, .overflow = overflow_of(options)});
}

}  // namespace narrowcast
