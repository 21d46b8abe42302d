#include "codec/kernel/format.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace narrowcast::kernel {
namespace {

float power_of_two(int k) { return static_cast<float>(std::ldexp(1.0, k)); }

// Without mantissa there is no shortcut: ties go to the even code, and there may be no NaN.
Shortcut shortcut_of(const FormatSpec& spec) {
  if (spec.rounding != Rounding::nearest || spec.mantissa_bits == 0) return Shortcut::none;
  if (spec.exponent_bits < 8) return spec.mantissa_bits < 23 ? Shortcut::magic : Shortcut::none;
  const bool as_ieee = spec.kind == Kind::ieee && spec.overflow == Overflow::special;
  if (!as_ieee) return Shortcut::none;
  return spec.mantissa_bits < 23 ? Shortcut::carry : Shortcut::identity;
}

// The largest float32 that is rounded to the largest value: up to half a step further, and that far
// itself where ties go down.
float limit_of(const Format& f) {
  const int m = 23 - f.shift;
  const int exponent = f.emin + std::max(static_cast<int>(f.largest >> m), 1) - 1;
  const auto middle = static_cast<float>(f.value_of_largest() + std::ldexp(0.5, exponent - m));
  return f.largest % 2 == 0 ? middle : std::nextafter(middle, 0.0f);
}

float beyond_of(const Format& f) {
  if (f.overflow == f.largest) return static_cast<float>(f.value_of_largest());
  return f.overflow == f.infinity_out ? std::numeric_limits<float>::infinity()
                                      : std::numeric_limits<float>::quiet_NaN();
}

// The largest magnitudes: the last that is a number, those that are none, and what becomes of values
// beyond.
void set_top(const FormatSpec& spec, Format& f) {
  const int e = spec.exponent_bits;
  const int m = spec.mantissa_bits;
  const std::uint32_t top = f.sign - 1;                          // all ones
  const auto top_exponent = ((std::uint32_t{1} << e) - 1) << m;  // exponent ones, mantissa 0
  std::uint32_t special = top;
  switch (spec.kind) {
    case Kind::ieee:
      f.largest = top_exponent - 1;
      f.infinity_out = top_exponent;
      f.nan_in = m == 0 ? top_exponent : top_exponent | std::uint32_t{1} << (m - 1);
      special = top_exponent;
      break;
    case Kind::fn:
      f.largest = top - 1;
      f.infinity_out = ~std::uint32_t{0};
      f.nan_in = top;
      break;
    case Kind::finite:
      f.largest = top;
      f.infinity_out = ~std::uint32_t{0};
      f.nan_in = top;  // never used: NaN is refused before
      break;
  }
  // With eight exponent bits the top exponent lies beyond float32, so no value has it.
  if (e == 8) f.largest = std::min(f.largest, top_exponent - 1);
  f.infinity_in = spec.overflow == Overflow::saturate ? f.largest : special;
  // Rounding toward zero never reaches past the largest value.
  f.overflow = spec.rounding == Rounding::zero ? f.largest : f.infinity_in;
}

}  // namespace

Format format_of(const FormatSpec& spec) {
  const int e = spec.exponent_bits;
  const int m = spec.mantissa_bits;
  const int bias = (1 << (e - 1)) - 1;
  Format f{};
  f.width = 1 + e + m;
  f.shift = 23 - m;
  f.rounding = spec.rounding;
  f.rebias = static_cast<std::uint32_t>(127 - bias) << m;
  f.sign = std::uint32_t{1} << (e + m);
  f.emin = 1 - bias;
  const bool own_subnormals = e < 8;
  f.subnormal_below = own_subnormals ? std::bit_cast<std::uint32_t>(power_of_two(f.emin)) : 0;
  f.subnormal_magnitude = own_subnormals ? std::uint32_t{1} << m : 0;
  f.magic = own_subnormals ? power_of_two(23 + f.emin - m) : 0;
  f.unit = own_subnormals ? power_of_two(f.emin - m) : 0;
  f.per_unit = own_subnormals ? power_of_two(m - f.emin) : 0;

  set_top(spec, f);
  f.shortcut = shortcut_of(spec);
  f.binary16 = e == 5 && m == 10 && spec.kind == Kind::ieee && spec.rounding == Rounding::nearest &&
               spec.overflow == Overflow::special;
  if (f.shortcut == Shortcut::magic) {
    f.limit = limit_of(f);
    f.beyond = beyond_of(f);
  }
  return f;
}

double Format::value_of_largest() const {
  const int m = 23 - shift;
  const std::uint32_t mantissa = largest & ((std::uint32_t{1} << m) - 1);
  const int field = static_cast<int>(largest >> m);
  if (field == 0) return std::ldexp(static_cast<double>(mantissa), emin - m);
  return std::ldexp(static_cast<double>(mantissa | std::uint32_t{1} << m), emin - m + field - 1);
}

}  // namespace narrowcast::kernel
