#pragma once

#include <cstddef>
#include <cstdint>

#include "base/bytes.hpp"

namespace narrowcast {

// Codes of 9 to 31 bits, lowest bits first, without gaps; the last byte is filled up with zeros.
void pack_bits(const std::uint32_t* codes, std::size_t n, int width, std::byte* out);
void unpack_bits(const std::byte* in, std::size_t n, int width, std::uint32_t* codes);

inline std::size_t packed_bytes(std::size_t values, int width) {
  // In two parts: values * width may not fit 64 bits where the bytes do.
  const auto bits = static_cast<std::size_t>(width);
  return values / 8 * bits + (values % 8 * bits + 7) / 8;
}

}  // namespace narrowcast
