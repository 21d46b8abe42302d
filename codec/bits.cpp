#include "codec/bits.hpp"

#include <cstring>

namespace narrowcast {

void pack_bits(const std::uint32_t* codes, std::size_t n, int width, std::byte* out) {
  std::uint64_t held = 0;
  int bits = 0;
  for (std::size_t i = 0; i < n; ++i) {
    held |= std::uint64_t{codes[i]} << bits;
    bits += width;
    if (bits >= 32) {  // a whole word at a time: at most 31 + 31 bits are ever held
      const auto word = static_cast<std::uint32_t>(held);
      std::memcpy(out, &word, sizeof word);
      out += sizeof word;
      held >>= 32;
      bits -= 32;
    }
  }
  std::memcpy(out, &held, static_cast<std::size_t>(bits + 7) / 8);
}

void unpack_bits(const std::byte* in, std::size_t n, int width, std::uint32_t* codes) {
  const std::uint64_t mask = (std::uint64_t{1} << width) - 1;
  const std::size_t bytes = packed_bytes(n, width);
  // Each code from an unaligned word that holds it whole: at most 31 + 7 bits.
  const auto code = [&](const std::byte* from, std::size_t i) {
    const std::size_t bit = i * static_cast<std::size_t>(width);
    std::uint64_t word = 0;
    std::memcpy(&word, from + bit / 8, sizeof word);
    return static_cast<std::uint32_t>(word >> (bit % 8) & mask);
  };
  std::size_t i = 0;
  for (; i < n && i * static_cast<std::size_t>(width) / 8 + sizeof(std::uint64_t) <= bytes; ++i)
    codes[i] = code(in, i);
  if (i == n) return;
  // The words of the last codes would reach past the message, so it is copied with room behind it.
  const std::size_t first = i / 8 * 8;  // starts at a whole byte
  const std::size_t at = first / 8 * static_cast<std::size_t>(width);
  std::byte tail[96] = {};
  std::memcpy(tail, in + at, bytes - at);
  for (; i < n; ++i) codes[i] = code(tail, i - first);
}

}  // namespace narrowcast
