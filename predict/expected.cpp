#include "predict/expected.hpp"

#include <cmath>

namespace narrowcast {
namespace {

double normal_below(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

// Where a normal number lies below with that probability, by bisection: it is asked for once a forecast.
double normal_quantile(double probability) {
  double low = -10;
  double high = 10;
  for (int round = 0; round < 60; ++round) {
    const double middle = (low + high) / 2;
    (normal_below(middle) < probability ? low : high) = middle;
  }
  return low;
}

}  // namespace

double expected_maximum(int count) {
  if (count <= 1) return 0;
  return normal_quantile((count - 0.375) / (count + 0.25));
}

}  // namespace narrowcast
