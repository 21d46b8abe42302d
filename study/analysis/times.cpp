// Time to accuracy: epochs from curves, seconds of an epoch from steps.
#include <algorithm>
#include <cmath>

#include "study/analysis/contrast.hpp"
#include "study/analysis/parts.hpp"

namespace narrowcast {
namespace {

std::optional<double> target_of(const CellGroup& baseline, double tolerance) {
  const std::vector<double> best = values_of(values_by_seed(baseline.done, "best_error"));
  if (best.empty()) return std::nullopt;
  return std::ranges::max(best) + tolerance;
}

bool has_curve(const CellRecord& record) {
  return std::ranges::any_of(record.epochs,
                             [](const EpochPoint& point) { return point.test_error.has_value(); });
}

std::optional<double> epochs_to(const CellRecord& record, double target) {
  const auto there = std::ranges::find_if(record.epochs, [&](const EpochPoint& point) {
    return point.test_error && *point.test_error <= target;
  });
  return there == record.epochs.end() ? std::nullopt : std::optional(there->epoch);
}

BySeed epochs_by_seed(const CellGroup& curve, double target) {
  BySeed epochs;
  for (const CellRecord* record : curve.done)
    if (const auto needed = epochs_to(*record, target))
      epochs[std::string(record->cell.at("seed"))] = *needed;
  return epochs;
}

Estimate times(double factor, Estimate estimate) {
  estimate.mean *= factor;
  if (estimate.low) estimate.low = *estimate.low * factor;
  if (estimate.high) estimate.high = *estimate.high * factor;
  return estimate;
}

// How many times as many epochs the baseline needs.
std::optional<Contrast> epochs_gain(const BySeed& own, const BySeed& baseline) {
  BySeed logs;
  BySeed baseline_logs;
  for (const auto& [seed, epochs] : own) logs[seed] = std::log(epochs);
  for (const auto& [seed, epochs] : baseline) baseline_logs[seed] = std::log(epochs);
  Contrast found = paired_errors(baseline_logs, logs);
  if (found.effect.count == 0) return std::nullopt;
  found.effect.mean = std::exp(found.effect.mean);
  if (found.effect.low) found.effect.low = std::exp(*found.effect.low);
  if (found.effect.high) found.effect.high = std::exp(*found.effect.high);
  return found;
}

class Clock {
 public:
  Clock(const Neighbourhood& all, double tolerance) : all_(all), tolerance_(tolerance) {}

  std::optional<TimeToError> read(std::size_t curve, const Speed& timing) const {
    const std::optional<std::size_t> baseline =
        all_.is_baseline(curve) ? curve : all_.baseline_of(curve);
    const auto target = baseline ? target_of(all_[*baseline], tolerance_) : std::nullopt;
    const BySeed steps = values_by_seed(all_[curve].done, "steps_per_epoch");
    if (!target || steps.empty() || timing.step_ms.count == 0) return std::nullopt;
    const BySeed epochs = epochs_by_seed(all_[curve], *target);
    TimeToError found{.curve = curve,
                      .timing = timing.group,
                      .source = timing.source,
                      .target = *target,
                      .reached = epochs.size(),
                      .epochs = estimate(values_of(epochs)),
                      .epoch_s = times(steps.begin()->second / 1000, timing.step_ms)};
    for (const CellRecord* record : all_[curve].done) found.seeds += has_curve(*record) ? 1 : 0;
    if (found.seeds == 0) return std::nullopt;
    found.seeds += all_[curve].failed;
    if (!found.is_reached()) return found;
    found.seconds = product(found.epochs, found.epoch_s);
    if (*baseline != curve && timing.gain)
      found.gain = gain(epochs, epochs_by_seed(all_[*baseline], found.target), *timing.gain);
    return found;
  }

 private:
  static std::optional<Contrast> gain(const BySeed& epochs, const BySeed& baseline,
                                      const Contrast& steps) {
    const std::optional<Contrast> fewer = epochs_gain(epochs, baseline);
    if (!fewer || steps.effect.count == 0) return std::nullopt;
    Contrast found{.effect = product(fewer->effect, steps.effect)};
    const bool by_epochs = found.effect.mean > 1 ? fewer->effect.mean > steps.effect.mean
                                                 : fewer->effect.mean < steps.effect.mean;
    const Contrast& decides = by_epochs ? *fewer : steps;
    if (!decides.p) return found;
    if (does_not_scatter(decides.effect))
      found.effect.low = found.effect.high = std::nullopt;
    else
      found.p = decides.p;
    return found;
  }

  const Neighbourhood& all_;
  double tolerance_;
};

}  // namespace

std::vector<TimeToError> times_of(const Neighbourhood& all, std::span<const Speed> speed,
                                  double tolerance) {
  const Clock clock(all, tolerance);
  std::vector<TimeToError> found;
  for (const Speed* timing : timings_of(speed))
    for (const std::size_t curve : curves_for(all, timing->group))
      if (const auto time = clock.read(curve, *timing)) found.push_back(*time);
  std::vector<Contrast*> list;
  for (TimeToError& each : found)
    if (each.gain) list.push_back(&*each.gain);
  correct(list);
  for (Contrast* each : list) each->judgement = judge_gain(*each);
  return found;
}

}  // namespace narrowcast
