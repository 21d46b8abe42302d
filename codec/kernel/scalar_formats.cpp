#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "codec/kernel/kernels.hpp"

// Specification of floating-point and MX formats, written as the definitions read: in units of the
// format's last place, in double, where every step is exact.
namespace narrowcast::kernel {
namespace {

bool rounds_up(double rest, std::uint32_t magnitude_below, Rounding rounding,
               std::uint32_t random) {
  switch (rounding) {
    case Rounding::zero:
      return false;
    case Rounding::nearest:  // ties to the even code, also where there is no mantissa
      return rest > 0.5 || (rest == 0.5 && magnitude_below % 2 == 1);
    case Rounding::stochastic:
      return static_cast<std::uint32_t>(std::floor(rest * 65536 + 0.5)) + random >= 65536;
  }
  return false;
}

std::uint32_t encode_one(float x, const Format& format, std::uint32_t random) {
  const std::uint32_t sign = std::signbit(x) ? format.sign : 0;
  if (std::isnan(x)) return sign | format.nan_in;
  if (std::isinf(x)) return sign | format.infinity_in;
  if (x == 0) return sign;
  const int m = 23 - format.shift;
  const double a = std::fabs(static_cast<double>(x));
  const int exponent = std::max(std::ilogb(a), format.emin);
  const double places = std::ldexp(a, m - exponent);  // in units of the last place
  const double below = std::floor(places);
  std::uint32_t magnitude =
      (static_cast<std::uint32_t>(exponent - format.emin) << m) + static_cast<std::uint32_t>(below);
  if (rounds_up(places - below, magnitude, format.rounding, random)) ++magnitude;
  if (magnitude > format.largest) magnitude = format.overflow;
  return sign | magnitude;
}

float decode_one(std::uint32_t code, const Format& format) {
  const int m = 23 - format.shift;
  const std::uint32_t magnitude = code & (format.sign - 1);
  const double sign = (code & format.sign) != 0 ? -1 : 1;
  if (magnitude > format.largest) {
    if (magnitude != format.infinity_out) return std::numeric_limits<float>::quiet_NaN();
    return static_cast<float>(sign) * std::numeric_limits<float>::infinity();
  }
  const int field = static_cast<int>(magnitude >> m);
  const double mantissa = magnitude & ((1u << m) - 1);
  const double places = field == 0 ? mantissa : mantissa + std::ldexp(1.0, m);
  return static_cast<float>(sign * std::ldexp(places, format.emin - m + std::max(field, 1) - 1));
}

template <Into into>
void land(float value, float& out) {
  out = into == Into::sum ? out + value : value;
}

// Codes lie in messages, where nothing is aligned.
template <class Code>
void encode(const float* x, std::size_t n, const Format& format, const std::uint16_t* random,
            Code* codes) {
  for (std::size_t i = 0; i < n; ++i) {
    const auto code = static_cast<Code>(
        encode_one(x[i], format, format.rounding == Rounding::stochastic ? random[i] : 0));
    std::memcpy(codes + i, &code, sizeof code);
  }
}

template <class Code, Into into>
void decode(const Code* codes, std::size_t n, const Format& format, float factor, float* out) {
  for (std::size_t i = 0; i < n; ++i) {
    Code code;
    std::memcpy(&code, codes + i, sizeof code);
    land<into>(decode_one(code, format) * factor, out[i]);
  }
}

void round_all(const float* x, std::size_t n, const Format& format, const std::uint16_t* random,
               float* out) {
  for (std::size_t i = 0; i < n; ++i)
    out[i] = rounded(x[i], format, format.rounding == Rounding::stochastic ? random[i] : 0);
}

int shared_exponent(float amax, const MxFormat& format) {
  if (amax == 0) return -127;
  int shared = std::ilogb(amax) - format.emax;
  if (format.ceil && std::ldexp(static_cast<double>(amax), -shared) > format.largest) ++shared;
  return std::clamp(shared, -127, 127);
}

std::uint8_t mx_code(float scaled, const MxFormat& format) {
  if (!format.integer) return static_cast<std::uint8_t>(encode_one(scaled, format.element, 0));
  const float level = std::min(std::max(scaled * 64.0f, -127.0f), 127.0f);
  return static_cast<std::uint8_t>(static_cast<std::int8_t>(std::lrintf(level)));
}

float mx_value(std::uint8_t code, const MxFormat& format) {
  if (!format.integer) return decode_one(code, format.element);
  return static_cast<float>(static_cast<std::int8_t>(code)) / 64.0f;
}

void mx_encode(const float* x, std::size_t blocks, const MxFormat& format, std::uint8_t* scales,
               std::uint8_t* codes) {
  for (; blocks > 0; --blocks, x += kMxBlock, codes += kMxBlock) {
    float amax = 0;
    bool finite = true;
    for (std::size_t i = 0; i < kMxBlock; ++i) {
      amax = std::max(amax, std::fabs(x[i]));
      finite = finite && std::isfinite(x[i]);
    }
    const int shared = finite ? shared_exponent(amax, format) : 128;  // 0xff: the block is NaN
    *scales++ = static_cast<std::uint8_t>(shared + 127);
    const float factor = std::ldexp(1.0f, -shared);
    for (std::size_t i = 0; i < kMxBlock; ++i)
      codes[i] = finite ? mx_code(x[i] * factor, format) : 0;
  }
}

template <Into into>
void mx_decode(const std::uint8_t* scales, const std::uint8_t* codes, std::size_t blocks,
               const MxFormat& format, float factor, float* out) {
  for (std::size_t i = 0; i < blocks * kMxBlock; ++i) {
    const std::uint8_t shared = scales[i / kMxBlock];
    const float scale =
        shared == 0xff ? std::numeric_limits<float>::quiet_NaN() : std::ldexp(1.0f, shared - 127);
    land<into>(mx_value(codes[i], format) * scale * factor, out[i]);
  }
}

}  // namespace

float rounded(float x, const Format& format, std::uint32_t random) {
  return decode_one(encode_one(x, format, random), format);
}

void scalar_formats(Kernels& table) {
  table.format8_encode = encode<std::uint8_t>;
  table.format16_encode = encode<std::uint16_t>;
  table.format32_encode = encode<std::uint32_t>;
  table.format8_decode = {decode<std::uint8_t, Into::overwrite>, decode<std::uint8_t, Into::sum>};
  table.format16_decode = {decode<std::uint16_t, Into::overwrite>,
                           decode<std::uint16_t, Into::sum>};
  table.format32_decode = {decode<std::uint32_t, Into::overwrite>,
                           decode<std::uint32_t, Into::sum>};
  table.format_round = round_all;
  table.mx_encode = mx_encode;
  table.mx_decode = {mx_decode<Into::overwrite>, mx_decode<Into::sum>};
}

}  // namespace narrowcast::kernel
