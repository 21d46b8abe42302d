#pragma once

#include "base/bytes.hpp"
#include "base/random.hpp"

namespace narrowcast {

// Fills `out` with zeros, with probability `drop`, and otherwise with the factor that keeps the mean
// at one. `drop` is rounded to a multiple of 2^-16. A value is a function of the stream and its index.
void fill_mask(MutableFloats out, double drop, const Stream& stream);

}  // namespace narrowcast
