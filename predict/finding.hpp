#pragma once

#include <vector>

#include "predict/profile.hpp"

namespace narrowcast {

// The median of repeated measurements, and how far repetitions of it would lie apart, as a part of it.
struct Finding {
  double value = 0;
  Spread spread = 0;
};
Finding finding_of(std::vector<double> values);

}  // namespace narrowcast
