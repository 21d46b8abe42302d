#include <algorithm>
#include <cmath>
#include <cstring>

#include "codec/kernel/kernels.hpp"

// Specification of evenly spaced levels and of packing codes into fewer bits.
namespace narrowcast::kernel {
namespace {

void linear_encode(const float* x, std::size_t n, float inverse, std::uint8_t* codes) {
  for (std::size_t i = 0; i < n; ++i) {
    const long level = std::min(std::lrintf(std::fabs(x[i]) * inverse), 127L);
    codes[i] = static_cast<std::uint8_t>(level | (std::signbit(x[i]) ? 0x80 : 0));
  }
}

template <Into into>
void linear_decode(const std::uint8_t* codes, std::size_t n, float step, float* out) {
  for (std::size_t i = 0; i < n; ++i) {
    const float magnitude = static_cast<float>(codes[i] & 0x7f) * step;
    const float value = (codes[i] & 0x80) != 0 ? -magnitude : magnitude;
    out[i] = into == Into::sum ? out[i] + value : value;
  }
}

// Fixed point with sixteen fractional bits makes the odds exact: of the 65536 values of `random`,
// as many carry into the next level as the fraction says.
template <class Level>
void stochastic(const float* x, std::size_t n, float inverse, int limit,
                const std::uint16_t* random, Level* levels) {
  const float most = static_cast<float>(limit) * 65536.0f;
  for (std::size_t i = 0; i < n; ++i) {
    const float clamped = std::min(std::max(x[i] * inverse, -most), most);
    const auto fixed = static_cast<std::int32_t>(std::lrintf(clamped));
    const auto level = static_cast<Level>((fixed + random[i]) >> 16);
    std::memcpy(levels + i, &level, sizeof level);  // messages are not aligned
  }
}

template <class Level, Into into>
void levels_decode(const Level* levels, std::size_t n, float step, float* out) {
  for (std::size_t i = 0; i < n; ++i) {
    Level level;
    std::memcpy(&level, levels + i, sizeof level);
    const float value = static_cast<float>(level) * step;
    out[i] = into == Into::sum ? out[i] + value : value;
  }
}

void pack(const std::uint8_t* codes, std::size_t n, int width, std::uint8_t* out) {
  const std::uint32_t mask = (1u << width) - 1;
  std::uint32_t held = 0;
  int bits = 0;
  for (std::size_t i = 0; i < n; ++i) {
    held |= (codes[i] & mask) << bits;
    for (bits += width; bits >= 8; bits -= 8, held >>= 8) *out++ = static_cast<std::uint8_t>(held);
  }
  if (bits > 0) *out = static_cast<std::uint8_t>(held);
}

void unpack(const std::uint8_t* in, std::size_t n, int width, std::uint8_t* codes) {
  const std::uint32_t mask = (1u << width) - 1;
  std::uint32_t held = 0;
  int bits = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (; bits < width; bits += 8) held |= static_cast<std::uint32_t>(*in++) << bits;
    codes[i] = static_cast<std::uint8_t>(held & mask);
    held >>= width;
    bits -= width;
  }
}

void unpack_signed(const std::uint8_t* in, std::size_t n, int width, std::int8_t* codes) {
  unpack(in, n, width, reinterpret_cast<std::uint8_t*>(codes));
  const int half = 1 << (width - 1);
  for (std::size_t i = 0; i < n; ++i)
    codes[i] = static_cast<std::int8_t>((static_cast<std::uint8_t>(codes[i]) ^ half) - half);
}

template <class Code>
bool contains(const Code* codes, std::size_t n, Code code) {
  bool found = false;
  for (std::size_t i = 0; i < n; ++i) {
    Code here;
    std::memcpy(&here, codes + i, sizeof here);
    found = found || here == code;
  }
  return found;
}

}  // namespace

void scalar_levels(Kernels& table) {
  table.linear_encode = linear_encode;
  table.linear_decode = {linear_decode<Into::overwrite>, linear_decode<Into::sum>};
  table.stochastic8 = stochastic<std::int8_t>;
  table.stochastic16 = stochastic<std::int16_t>;
  table.levels8 = {levels_decode<std::int8_t, Into::overwrite>,
                   levels_decode<std::int8_t, Into::sum>};
  table.levels16 = {levels_decode<std::int16_t, Into::overwrite>,
                    levels_decode<std::int16_t, Into::sum>};
  table.pack = pack;
  table.unpack = unpack;
  table.unpack_signed = unpack_signed;
  table.contains8 = contains<std::uint8_t>;
  table.contains16 = contains<std::uint16_t>;
}

}  // namespace narrowcast::kernel
