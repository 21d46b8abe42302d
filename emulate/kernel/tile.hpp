#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "codec/formats.hpp"
#include "emulate/gemm.hpp"

// What emulated products ask of the CPU, as codec/kernel does it: one table for each target, of which
// the scalar one is the specification. Nothing here checks its arguments.
namespace narrowcast::emulated {

// A tile of the product is that many rows and columns; its parts of a and b are packed and padded with
// zeros, so that no kernel knows of ragged sizes.
inline constexpr std::size_t kRows = 4;
inline constexpr std::size_t kColumns = 8;

// The most terms that are added at a time where dice are thrown.
inline constexpr std::size_t kSegment = 512;

// The roundings of one term, each of which has dice of its own. Without compensation there are two.
enum class Turn : std::uint32_t { product, sum, addend, difference, rest };
inline constexpr std::size_t kTurns = 5;

// Sixteen bits for every rounding: [turn][row][term * kColumns + column].
using Dice = std::array<std::array<std::array<std::uint16_t, kSegment * kColumns>, kRows>, kTurns>;

// Whether products can be larger than their format's `limit`; where they cannot, nobody need look.
enum class Reach { within, beyond };

struct Terms {
  const float* a = nullptr;  // [term][row]
  const float* b = nullptr;  // [term][column]
  std::size_t count = 0;
  const kernel::Format* product = nullptr;
  const kernel::Format* sum = nullptr;
  const Dice* dice = nullptr;  // where a format is stochastic
  Reach reach = Reach::beyond;
};

struct Tile {
  alignas(64) float sum[kRows][kColumns] = {};
  alignas(64) float rest[kRows][kColumns] = {};  // what the sum is too large by
};

struct Kernels {
  std::string_view target;
  // Adds terms to the sums of a tile, in ascending order. Zeros may have either sign.
  void (*add)(const Terms& terms, Tile& tile);
  void (*add_compensated)(const Terms& terms, Tile& tile);
};

// The table of active_target().
const Kernels& active();

void scalar_tiles(Kernels& table);
void simd_tiles(Kernels& table);

}  // namespace narrowcast::emulated
