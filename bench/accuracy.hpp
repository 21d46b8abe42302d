#pragma once

#include <cstddef>
#include <optional>

#include "base/bytes.hpp"
#include "codec/codec.hpp"
#include "codec/distortion.hpp"

namespace narrowcast::bench {

// Bits a value takes at most, in a tensor of a million values; exact when the size is fixed.
double nominal_bits(const Codec& codec);

struct Accuracy {
  Distortion distortion;
  double bits_per_value = 0;  // of this very message
};

// Encodes the samples as one tensor, decodes them and compares. Beside the samples it needs memory
// for kAccuracyTensors more of their size.
inline constexpr std::size_t kAccuracyTensors = 2;
Accuracy measure_accuracy(const Codec& codec, Floats samples, const Stream& stream);

// The index of a value that is further from what was encoded than the promise allows.
std::optional<std::size_t> broken_promise(const Promise& promise, Floats exact, Floats decoded);

}  // namespace narrowcast::bench
