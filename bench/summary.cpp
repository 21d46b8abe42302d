#include "bench/summary.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace narrowcast::bench {

Summary summarise(Floats values) {
  Summary summary{.least = std::numeric_limits<double>::infinity(),
                  .most = -std::numeric_limits<double>::infinity()};
  double sum = 0;
  for (const double x : values) {
    if (!std::isfinite(x)) {
      ++summary.not_finite;
      continue;
    }
    ++summary.finite;
    summary.least = std::min(summary.least, x);
    summary.most = std::max(summary.most, x);
    sum += x;
  }
  if (summary.finite == 0) return {.not_finite = summary.not_finite};
  summary.mean = sum / static_cast<double>(summary.finite);
  return summary;
}

}  // namespace narrowcast::bench
