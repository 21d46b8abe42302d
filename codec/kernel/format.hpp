#pragma once

#include <cstdint>

// Floating-point formats of up to 32 bits as the kernels see them: all decisions that depend on the
// format alone are made once, here, and the loops only select.
namespace narrowcast::kernel {

enum class Kind { ieee, fn, finite };
enum class Rounding { nearest, stochastic, zero };
enum class Overflow { special, saturate };  // special: infinity where there is one, else NaN

// How a float32 gets to the nearest value of a format without taking its code on the way.
enum class Shortcut {
  none,
  identity,  // the format is float32
  magic,     // adding a power of two, and taking it away, drops what does not fit
  carry,     // eight exponent bits: mantissas are rounded as integers, and carry into the exponent
};

struct FormatSpec {
  int exponent_bits = 8;
  int mantissa_bits = 23;
  Kind kind = Kind::ieee;
  Overflow overflow = Overflow::special;
  Rounding rounding = Rounding::nearest;
};

// A code is sign | exponent | mantissa in the low 1 + e + m bits. "Magnitude" is a code without its
// sign; magnitudes are ordered as the values they stand for.
struct Format {
  int width;  // 1 + e + m
  int shift;  // 23 - m: float32 mantissa bits that do not fit
  Rounding rounding;
  std::uint32_t rebias;    // magnitude of 2^emin minus that of a float32 of the same exponent field
  std::uint32_t sign;      // the sign bit of a code
  std::uint32_t largest;   // magnitude of the largest finite value
  std::uint32_t overflow;  // magnitude that finite values beyond `largest` become
  std::uint32_t infinity_in;   // magnitude that an infinity becomes
  std::uint32_t nan_in;        // magnitude that a NaN becomes
  std::uint32_t infinity_out;  // magnitude that decodes to infinity; ~0 when there is none
  // Below these the value is subnormal in the format and on the other branch: as float32 bits, and
  // as a magnitude. Both are 0 for 8 exponent bits, whose subnormals are those of float32.
  std::uint32_t subnormal_below;
  std::uint32_t subnormal_magnitude;
  int emin;        // exponent of the smallest normal value
  float magic;     // adding it to a subnormal leaves round(x / unit) in the low bits
  float unit;      // value of the smallest subnormal, 2^(emin - m)
  float per_unit;  // 1 / unit, where `unit` is used
  Shortcut shortcut;
  bool binary16;  // IEEE's half precision to the nearest, which CPUs convert themselves
  float limit;    // Shortcut::magic: magnitudes beyond it overflow
  float beyond;   // and become this

  double value_of_largest() const;
};

Format format_of(const FormatSpec& spec);

// The specification of rounding: the value of x's code. `random` has sixteen bits and is for
// Rounding::stochastic.
float rounded(float x, const Format& format, std::uint32_t random = 0);

}  // namespace narrowcast::kernel
