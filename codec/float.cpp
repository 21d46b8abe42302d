// Any floating-point format with e exponent and m mantissa bits, as CPD and APS use them.
//
//   wire:   1 + e + m bits per value: sign, exponent, mantissa; lowest bits first, without gaps
//
//   kind=ieee    the top exponent is infinity and NaN, as in IEEE 754 (m=0: infinity alone)
//   kind=fn      no infinity; the code of all ones is NaN, as in OCP E4M3
//   kind=finite  every code is a number, as in OCP E2M1; NaN is refused
//
// Good for:   comparing formats; APS, whose exponent it takes by Encoding::exponent.
// Bad for:    gradients outside its range: without APS they overflow or vanish.
// Why ties to the even code: it is IEEE's rule wherever there is a mantissa, and a rule at all
//             where there is none.
// Non-finite: by kind and overflow, see the promise. `saturate` saturates infinity too.
#include "codec/formats.hpp"
#include "codec/spec.hpp"

namespace narrowcast {

std::unique_ptr<Codec> make_float(const Options& options) {
  using namespace kernel;
  FormatSpec format;
  format.exponent_bits = static_cast<int>(options.integer("e", 1, 8));
  format.mantissa_bits = static_cast<int>(options.integer("m", 0, 23));
  const std::string_view rounding = options.word("rounding");
  format.rounding = rounding == "nearest"      ? Rounding::nearest
                    : rounding == "stochastic" ? Rounding::stochastic
                                               : Rounding::zero;
  const std::string_view kind = options.word("kind");
  format.kind = kind == "ieee" ? Kind::ieee : kind == "fn" ? Kind::fn : Kind::finite;
  if (format.kind == Kind::finite) {
    if (options.given("overflow") && options.word("overflow") != "saturate")
      options.refuse("with kind=finite has no infinity: overflow can only be saturate");
    options.resolve("overflow", "saturate");
  }
  format.overflow = options.word("overflow") == "saturate" ? Overflow::saturate : Overflow::special;
  return make_format_codec(options.canonical(), format);
}

}  // namespace narrowcast
