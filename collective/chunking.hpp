#pragma once

#include <cstddef>

// In what parts the share of a rank travels. The predictor goes by the same figures.
namespace narrowcast {

// Parts at most, where nobody asks for smaller ones: encoding, wire and decoding overlap but for one.
inline constexpr std::size_t kChunks = 8;

// Messages of fewer bytes cost more than their bytes do.
inline constexpr std::size_t kWorthwhileBytes = 128 << 10;

}  // namespace narrowcast
