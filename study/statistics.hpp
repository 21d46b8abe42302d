#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

// Well-known methods, in plain numbers: Student's t, one-way analysis of variance, Holm's correction.
namespace narrowcast {

inline constexpr double kConfidence = 0.95;

struct Estimate {
  double mean = 0;
  // Between them the true mean should lie in 95 of 100 cases; not there with less than two values.
  std::optional<double> low = {};
  std::optional<double> high = {};
  std::size_t count = 0;
};
Estimate estimate(std::span<const double> values);

// Of a minus b.
struct MeanDifference {
  Estimate difference = {};
  std::optional<double> p = {};  // two-sided, of no difference; not there with too few values
};
// Of pairs, as runs with equal seeds are.
MeanDifference paired_difference(std::span<const double> a, std::span<const double> b);
// Of samples that have nothing to do with each other and need not scatter alike (Welch).
MeanDifference difference(std::span<const double> a, std::span<const double> b);

// Whether the means of several groups differ (Fisher).
struct Variance {
  double f = 0;
  double p = 1;
  std::size_t between = 0;  // degrees of freedom
  std::size_t within = 0;
};
// None with fewer than two groups of two values, or when nothing varies.
std::optional<Variance> analyse_variance(std::span<const std::vector<double>> groups);

// For many comparisons at once (Holm, 1979): in the order given, each at most 1.
std::vector<double> holm(std::span<const double> p);

}  // namespace narrowcast
