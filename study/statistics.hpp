#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

// Well-known methods, in plain numbers: Student's t, one-way analysis of variance, Holm's correction.
// Values that are not finite are Fault::usage.
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
  // Two-sided, of no difference; not there with less than two values on either side. Where nothing scatters
  // it is 1 for no difference and 0 for any.
  std::optional<double> p = {};
};
// Of pairs, as runs with equal seeds are: as many on both sides, or Fault::usage.
MeanDifference paired_difference(std::span<const double> a, std::span<const double> b);
// Of samples that have nothing to do with each other and need not scatter alike (Welch); `count` is that of
// the smaller one.
MeanDifference difference(std::span<const double> a, std::span<const double> b);

// Whether the means of several groups differ (Fisher).
struct Variance {
  double f = 0;
  double p = 1;
  std::size_t between = 0;  // degrees of freedom
  std::size_t within = 0;
};
// None with fewer than two groups of two values, or when nothing varies inside the groups. Empty groups do
// not count.
std::optional<Variance> analyse_variance(std::span<const std::vector<double>> groups);

// For many comparisons at once (Holm, 1979): in the order given, each at most 1.
std::vector<double> holm(std::span<const double> p);

double median(std::vector<double> values);  // of one at least

}  // namespace narrowcast
