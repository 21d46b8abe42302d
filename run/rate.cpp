#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.hpp"
#include "run/run.hpp"

namespace narrowcast {

double rate_factor(const Schedule& schedule, double epoch, double epochs) {
  if (epoch < schedule.warm_up)
    return schedule.warm_from + (1 - schedule.warm_from) * epoch / schedule.warm_up;
  // Since the end of the warm-up, and as a part of what was left then.
  const double since = epoch - schedule.warm_up;
  const double left = epochs - schedule.warm_up;
  const double part = left > 0 ? std::min(since / left, 1.0) : 1;
  if (schedule.shape == "constant") return 1;
  if (schedule.shape == "exponential") return std::pow(schedule.factor, std::floor(since));
  if (schedule.shape == "steps") {
    const auto passed = std::ranges::count_if(schedule.at, [&](double at) { return at <= epoch; });
    return std::pow(schedule.factor, static_cast<double>(passed));
  }
  if (schedule.shape == "linear") return 1 - part;
  if (schedule.shape == "cosine") return (1 + std::cos(std::numbers::pi * part)) / 2;
  throw Error(Fault::usage, fmt::format("no schedule has the shape '{}'", schedule.shape));
}

}  // namespace narrowcast
