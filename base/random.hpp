#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace narrowcast {

// Counter-based randomness: a value is a pure function of who throws the dice and at which index,
// so any part of a tensor can be encoded anywhere, in any order, with the same result.
//
// The generator is Philox4x32 (Salmon et al., SC 2011) with seven rounds, the fewest its authors
// found to pass BigCrush: docs/decisions/0003-randomness.md.
struct Stream {
  std::uint64_t key = 0;
  std::uint64_t salt = 0;
  bool operator==(const Stream&) const = default;
};

// Where in an exchange a value is rounded. Each stage throws dice of its own.
enum class Stage : std::uint32_t { first = 0, hop = 1, again = 2 };

// Who throws. The sender's rank belongs in it: with the same dice on every rank, the errors of the
// ranks do not cancel and the error of the mean no longer falls with their number.
struct Dice {
  std::uint64_t seed = 0;
  std::uint64_t step = 0;
  std::uint64_t tensor = 0;
  std::uint32_t rank = 0;
  Stage stage = Stage::first;
  std::uint32_t hop = 0;  // which hop, where a stage has several
};

Stream stream_of(const Dice& dice);

using PhiloxBlock = std::array<std::uint32_t, 4>;
PhiloxBlock philox(PhiloxBlock counter, std::array<std::uint32_t, 2> key, int rounds);

inline constexpr int kPhiloxRounds = 7;

// The four words that a stream has at a counter.
PhiloxBlock random_words(const Stream& stream, std::uint64_t counter);

// Sixteen random bits for each index. Indices are served in groups of 64: eight Philox counters of
// four words each, laid out as vector units find them easiest to store:
//   index j of a group -> word j / 16 of counter l / 2 + l % 2 * 4, where l = j % 16 / 2; half j
//   % 2.
inline constexpr std::size_t kRandomGroup = 64;

// The specification of one value's bits. codec/kernel has the fast equivalent.
std::uint16_t random16(const Stream& stream, std::uint64_t index);

// A uniform double in (0, 1), for samples rather than for rounding.
double uniform(const Stream& stream, std::uint64_t index);

}  // namespace narrowcast
