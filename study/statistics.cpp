#include "study/statistics.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <boost/math/distributions/fisher_f.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>

#include "base/error.hpp"

namespace narrowcast {
namespace {

using boost::math::complement;
using boost::math::students_t;

void require_finite(std::span<const double> values) {
  for (const double value : values)
    if (!std::isfinite(value))
      throw Error(Fault::usage, fmt::format("statistics are of finite numbers, not of {}", value));
}

struct Moments {
  double mean = 0;
  double squares = 0;  // of distances to the mean, summed
  double count = 0;
  double variance() const { return squares / (count - 1); }
};

Moments moments_of(std::span<const double> values) {
  if (values.empty()) return {};
  Moments found{.count = static_cast<double>(values.size())};
  // From the first on, so that equal values have their own mean and no scatter at all.
  double sum = 0;
  for (const double value : values) sum += value - values.front();
  found.mean = values.front() + sum / found.count;
  for (const double value : values) found.squares += (value - found.mean) * (value - found.mean);
  return found;
}

// Sets the interval of a mean that has this standard error, and gives the p of its being 0.
double judge_mean(Estimate& mean, double error, double degrees) {
  if (error == 0) {
    mean.low = mean.high = mean.mean;
    return mean.mean == 0 ? 1 : 0;
  }
  const students_t t(degrees);
  const double reach = error * quantile(complement(t, (1 - kConfidence) / 2));
  mean.low = mean.mean - reach;
  mean.high = mean.mean + reach;
  return std::min(1.0, 2 * cdf(complement(t, std::abs(mean.mean) / error)));
}

MeanDifference of_differences(std::span<const double> differences) {
  const Moments found = moments_of(differences);
  MeanDifference result{.difference = {.mean = found.mean, .count = differences.size()}};
  if (differences.size() >= 2)
    result.p =
        judge_mean(result.difference, std::sqrt(found.variance() / found.count), found.count - 1);
  return result;
}

}  // namespace

Estimate estimate(std::span<const double> values) {
  require_finite(values);
  return of_differences(values).difference;
}

MeanDifference paired_difference(std::span<const double> a, std::span<const double> b) {
  require(a.size() == b.size(), Fault::usage, "pairs need as many values on both sides");
  require_finite(a);
  require_finite(b);
  std::vector<double> differences(a.size());
  std::ranges::transform(a, b, differences.begin(), std::minus());
  return of_differences(differences);
}

MeanDifference difference(std::span<const double> a, std::span<const double> b) {
  require_finite(a);
  require_finite(b);
  if (a.empty() || b.empty()) return {};
  const Moments left = moments_of(a);
  const Moments right = moments_of(b);
  MeanDifference result{
      .difference = {.mean = left.mean - right.mean, .count = std::min(a.size(), b.size())}};
  if (result.difference.count < 2) return result;
  const double of_left = left.variance() / left.count;
  const double of_right = right.variance() / right.count;
  const double both = of_left + of_right;
  const double degrees =
      both == 0
          ? 1
          : both * both /
                (of_left * of_left / (left.count - 1) + of_right * of_right / (right.count - 1));
  result.p = judge_mean(result.difference, std::sqrt(both), degrees);
  return result;
}

std::optional<Variance> analyse_variance(std::span<const std::vector<double>> groups) {
  std::vector<double> all;
  double within = 0;
  double count = 0;
  std::size_t of_two = 0;
  for (const auto& group : groups) {
    require_finite(group);
    all.insert(all.end(), group.begin(), group.end());
    within += moments_of(group).squares;
    count += group.empty() ? 0 : 1;
    of_two += group.size() >= 2 ? 1 : 0;
  }
  if (of_two < 2 || within == 0) return std::nullopt;
  const Moments total = moments_of(all);
  double between = 0;
  for (const auto& group : groups) {
    const Moments found = moments_of(group);
    between += found.count * (found.mean - total.mean) * (found.mean - total.mean);
  }
  const double of_between = count - 1;
  const double of_within = total.count - count;
  Variance result{.f = (between / of_between) / (within / of_within),
                  .between = static_cast<std::size_t>(of_between),
                  .within = static_cast<std::size_t>(of_within)};
  result.p = cdf(complement(boost::math::fisher_f(of_between, of_within), result.f));
  return result;
}

std::vector<double> holm(std::span<const double> p) {
  for (const double each : p)
    if (!(each >= 0 && each <= 1))
      throw Error(Fault::usage, fmt::format("a p lies between 0 and 1, not at {}", each));
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return p[i]; });
  std::vector<double> corrected(p.size());
  double largest = 0;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const double raised = p[order[rank]] * static_cast<double>(p.size() - rank);
    largest = std::max(largest, std::min(1.0, raised));
    corrected[order[rank]] = largest;
  }
  return corrected;
}

double median(std::vector<double> values) {
  require(!values.empty(), Fault::usage, "a median is of at least one value");
  require_finite(values);
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace narrowcast
