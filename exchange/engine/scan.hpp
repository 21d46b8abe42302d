#pragma once

#include "base/bytes.hpp"

namespace narrowcast {

struct Magnitudes {
  float largest = 0;       // of those that are finite
  bool all_finite = true;  // NaN and infinity are not
};

// In one pass, where all are finite.
Magnitudes scan(Floats values);
// Of the sums values[i] + residual[i]; a residual that is empty counts as zeros.
Magnitudes scan(Floats values, Floats residual);

}  // namespace narrowcast
