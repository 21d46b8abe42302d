#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "codec/codec.hpp"

namespace narrowcast::test {

struct Input {
  std::string name;
  std::vector<float> values;
};

// Standard normal values; the same for the same seed.
std::vector<float> normal(std::size_t count, std::uint64_t seed = 1);

// Finite values of kinds that break codecs: zeros of both signs, subnormals, the largest floats,
// alternating signs, a lone spike, many decades at once, every bit pattern.
std::vector<Input> finite_inputs(std::size_t count);

// `values` with NaN and both infinities at some places, the first and the last among them.
std::vector<float> with_specials(std::vector<float> values);

// finite_inputs, and for codecs that take them the same with specials.
std::vector<Input> any_inputs(const Codec& codec, std::size_t count);

// Counts that are awkward for a codec: small ones, and those around its blocks and vectors.
std::vector<std::size_t> awkward_counts(const Codec& codec);

}  // namespace narrowcast::test
