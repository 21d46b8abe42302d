#pragma once

#include "run/trainer.hpp"

namespace narrowcast {

// See measure() in run/trainer.hpp.
MeasuredModel measure_on_rank(const Measuring& measuring);

}  // namespace narrowcast
