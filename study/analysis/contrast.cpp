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

Judgement judge_pairs(const Contrast& contrast, double tolerance) {
  if (contrast.identical) return Judgement::same;
  const Estimate& effect = contrast.effect;
  if (!contrast.holm || does_not_scatter(effect)) return Judgement::too_little;
  if (*effect.low >= -tolerance && *effect.high <= tolerance) return Judgement::same;
  if (*contrast.holm >= kSignificance) return Judgement::unclear;
  return effect.mean < 0 ? Judgement::better : Judgement::worse;
}

std::vector<double> logarithms(std::span<const double> values) {
  std::vector<double> logs;
  for (const double value : values) logs.push_back(std::log(value));
  return logs;
}

// Half of a prediction's bounds on the logarithm, and the part of its step that is computing.
struct Bounds {
  double half = 0;
  double computing = 0;
  // Were errors in computing and in communicating of one size, what a step would be off by, of that size.
  double size() const { return std::hypot(computing, 1 - computing); }
};

std::optional<Bounds> bounds_of(const Timing& timing) {
  const Estimate& step = timing.mean;
  if (!step.low || !(*step.low > 0) || !timing.compute_ms) return std::nullopt;
  return Bounds{std::log(*step.high / *step.low) / 2,
                std::clamp(*timing.compute_ms / step.mean, 0.0, 1.0)};
}

// Of predictions with one profile, where computing is the same on both sides: what the profile is off there
// moves both together, in proportion to their parts of the step. In communicating each is off for itself.
std::optional<Estimate> ratio_of_predictions(const Timing& a, const Timing& b) {
  const auto one = bounds_of(a);
  const auto other = bounds_of(b);
  if (!one || !other || *a.compute_ms != *b.compute_ms) return std::nullopt;
  const double together = one->computing * other->computing / (one->size() * other->size());
  const double squares =
      one->half * one->half + other->half * other->half - 2 * together * one->half * other->half;
  const double reach = std::sqrt(std::max(0.0, squares));
  const double mean = a.mean.mean / b.mean.mean;
  return Estimate{
      .mean = mean, .low = mean * std::exp(-reach), .high = mean * std::exp(reach), .count = 1};
}

Contrast gain_between(const Timing& times, const Timing& baseline) {
  if (times.values.empty() || baseline.values.empty()) return {};
  if (const auto predicted = ratio_of_predictions(baseline, times)) return {.effect = *predicted};
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

// Split weights are in no hash: each rank has its own part of them.
bool end_alike(const CellGroup& group, const CellGroup& baseline) {
  if (group.at("parallel") != "data") return false;
  if (group.done.size() != baseline.done.size()) return false;
  std::map<std::string_view, std::string_view> hashes;
  for (const CellRecord* record : baseline.done)
    hashes[record->cell.at("seed")] = record->replica_hash;
  const auto has_partner = [&](const CellRecord* record) {
    const auto other = hashes.find(record->cell.at("seed"));
    return other != hashes.end() && !record->replica_hash.empty() &&
           record->replica_hash == other->second;
  };
  return !group.done.empty() && std::ranges::all_of(group.done, has_partner);
}

std::size_t seeds_without_error(const CellGroup& group) {
  const std::size_t known = std::min(values_by_seed(group.done, "last_error").size(),
                                     values_by_seed(group.done, "best_error").size());
  return group.failed + group.done.size() - known;
}

Timing timing_of(const CellGroup& group) {
  Timing timing;
  for (const double value : values_of(values_by_seed(group.quiet, "step_ms")))
    if (value > 0) timing.values.push_back(value);
  timing.mean = estimate(timing.values);
  if (timing.values.size() != 1) return timing;
  const auto low = values_by_seed(group.quiet, "low_ms");
  const auto high = values_by_seed(group.quiet, "high_ms");
  if (low.size() == 1 && high.size() == 1) {
    timing.mean.low = low.begin()->second;
    timing.mean.high = high.begin()->second;
    if (const auto compute = values_by_seed(group.quiet, "compute_ms"); compute.size() == 1)
      timing.compute_ms = compute.begin()->second;
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

bool does_not_scatter(const Estimate& effect) {
  return *effect.high - *effect.low <= 1e-9 * std::abs(effect.mean);
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

Judgement judge_error(const Contrast& contrast, double tolerance, const Missing& missing) {
  const Judgement judgement = judge_pairs(contrast, tolerance);
  const bool in_doubt = (missing.own > 0 && judgement != Judgement::worse) ||
                        (missing.baseline > 0 && judgement != Judgement::better);
  return in_doubt ? Judgement::too_little : judgement;
}

Judgement judge_gain(const Contrast& contrast) {
  const Estimate& effect = contrast.effect;
  if (!effect.low || (contrast.p && does_not_scatter(effect))) return Judgement::too_little;
  if (*effect.low >= 1 / kSameSpeed && *effect.high <= kSameSpeed) return Judgement::same;
  if (contrast.holm && *contrast.holm >= kSignificance) return Judgement::unclear;
  if (*effect.low > 1) return Judgement::better;
  return *effect.high < 1 ? Judgement::worse : Judgement::unclear;
}

}  // namespace narrowcast
