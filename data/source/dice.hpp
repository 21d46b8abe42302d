#pragma once

#include <cstddef>
#include <cstdint>

#include "base/random.hpp"

// The dice of this room.
namespace narrowcast::dice {

// Each use throws dice of its own.
enum class Use : std::uint64_t { order = 1, preparation = 2, pattern = 3, noise = 4 };

inline Stream stream(std::uint64_t seed, std::uint64_t epoch, Use use) {
  return stream_of({.seed = seed, .step = epoch, .tensor = static_cast<std::uint64_t>(use)});
}

// A number below `end`, from 64 bits: what is uneven about it is beyond measuring.
inline std::size_t below(std::size_t end, const PhiloxBlock& words) {
  __extension__ using Wide = unsigned __int128;
  const std::uint64_t bits = (std::uint64_t{words[1]} << 32) | words[0];
  return static_cast<std::size_t>((Wide{bits} * end) >> 64);
}

// The same from 32 bits, for small ends.
inline int below(int end, std::uint32_t word) {
  return static_cast<int>((std::uint64_t{word} * static_cast<std::uint32_t>(end)) >> 32);
}

}  // namespace narrowcast::dice
