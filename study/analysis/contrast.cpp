#include "study/analysis/contrast.hpp"

#include <algorithm>
#include <cmath>

namespace narrowcast {
namespace {

// How far an interval reaches below and above its mean, on the logarithm.
struct Reach {
  double down = 0;
  double up = 0;
};

std::optional<Reach> reach_of(const Estimate& estimate) {
  if (!estimate.low || !(*estimate.low > 0) || !(estimate.mean > 0)) return std::nullopt;
  return Reach{std::log(estimate.mean / *estimate.low), std::log(*estimate.high / estimate.mean)};
}

Estimate combined(double mean, std::size_t count, std::optional<Reach> a, std::optional<Reach> b) {
  Estimate result{.mean = mean, .count = count};
  if (a && b) {
    result.low = mean * std::exp(-std::hypot(a->down, b->down));
    result.high = mean * std::exp(std::hypot(a->up, b->up));
  }
  return result;
}

// Two equal differences by chance are no proof: errors come in steps of one image.
bool does_not_scatter(const Estimate& effect) {
  return *effect.high - *effect.low <= 1e-9 * std::abs(effect.mean);
}

std::vector<double> logarithms(std::span<const double> values) {
  std::vector<double> logs;
  for (const double value : values) logs.push_back(std::log(value));
  return logs;
}

Contrast gain_between(const Timing& times, const Timing& baseline) {
  if (times.values.empty() || baseline.values.empty()) return {};
  if (std::min(times.values.size(), baseline.values.size()) < 2)
    return {.effect = ratio(baseline.mean, times.mean)};
  const MeanDifference found = difference(logarithms(baseline.values), logarithms(times.values));
  return {.effect = {.mean = std::exp(found.difference.mean),
                     .low = std::exp(found.difference.low.value()),
                     .high = std::exp(found.difference.high.value()),
                     .count = found.difference.count},
          .p = found.p};
}

}  // namespace

Contrast paired_errors(const BySeed& errors, const BySeed& baseline) {
  std::vector<double> own;
  std::vector<double> other;
  for (const auto& [seed, error] : errors)
    if (const auto pair = baseline.find(seed); pair != baseline.end()) {
      own.push_back(error);
      other.push_back(pair->second);
    }
  const MeanDifference found = paired_difference(own, other);
  return {.effect = found.difference, .p = found.p};
}

Timing timing_of(const CellGroup& group) {
  const bool predicted = group.cell.kind == "predict";
  Timing timing;
  for (const double value : values_of(values_by_seed(group.quiet, "step_ms")))
    if (value > 0) timing.values.push_back(value);
  timing.mean = estimate(timing.values);
  if (timing.values.size() != 1) return timing;
  const auto low = values_by_seed(group.quiet, predicted ? "low_ms" : "step_low_ms");
  const auto high = values_by_seed(group.quiet, predicted ? "high_ms" : "step_high_ms");
  if (low.size() == 1 && high.size() == 1) {
    timing.mean.low = low.begin()->second;
    timing.mean.high = high.begin()->second;
  }
  return timing;
}

std::optional<std::string> common_machine(const CellGroup& a, const CellGroup& b) {
  const auto count = [](const CellGroup& group, const std::string& machine) {
    return std::ranges::count(group.quiet, machine,
                              [](const CellRecord* record) { return machine_of(*record); });
  };
  std::optional<std::string> best;
  std::ptrdiff_t most = 0;
  for (const CellRecord* record : a.quiet) {
    const std::string machine = machine_of(*record);
    if (const auto both = std::min(count(a, machine), count(b, machine)); both > most) {
      most = both;
      best = machine;
    }
  }
  return best;
}

Contrast gain_of(const CellGroup& group, const CellGroup& baseline) {
  const std::optional<std::string> machine = common_machine(group, baseline);
  if (!machine) return {};
  return gain_between(timing_of(on_machine(group, *machine)),
                      timing_of(on_machine(baseline, *machine)));
}

Estimate product(const Estimate& a, const Estimate& b) {
  return combined(a.mean * b.mean, std::min(a.count, b.count), reach_of(a), reach_of(b));
}

Estimate ratio(const Estimate& a, const Estimate& b) {
  std::optional<Reach> divisor = reach_of(b);
  if (divisor) std::swap(divisor->down, divisor->up);
  return combined(a.mean / b.mean, std::min(a.count, b.count), reach_of(a), divisor);
}

void correct(std::span<Contrast* const> list) {
  std::vector<double> p;
  for (const Contrast* each : list)
    if (each->p) p.push_back(*each->p);
  const std::vector<double> corrected = holm(p);
  auto next = corrected.begin();
  for (Contrast* each : list)
    if (each->p) each->holm = *next++;
}

Judgement judge_error(const Contrast& contrast, double tolerance) {
  const Estimate& effect = contrast.effect;
  if (!contrast.holm || (effect.mean != 0 && does_not_scatter(effect)))
    return Judgement::too_little;
  if (*effect.low >= -tolerance && *effect.high <= tolerance) return Judgement::same;
  if (*contrast.holm >= kSignificance) return Judgement::unclear;
  return effect.mean < 0 ? Judgement::better : Judgement::worse;
}

Judgement judge_gain(const Contrast& contrast) {
  const Estimate& effect = contrast.effect;
  if (!effect.low || (contrast.p && does_not_scatter(effect) && effect.mean != 1))
    return Judgement::too_little;
  if (*effect.low >= 1 / kSameSpeed && *effect.high <= kSameSpeed) return Judgement::same;
  if (*effect.low > 1) return Judgement::better;
  return *effect.high < 1 ? Judgement::worse : Judgement::unclear;
}

}  // namespace narrowcast
