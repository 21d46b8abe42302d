// Predicted against measured.
#include <algorithm>
#include <array>
#include <cmath>

#include "study/analysis/contrast.hpp"
#include "study/analysis/parts.hpp"
#include "study/kinds/words.hpp"

namespace narrowcast {
namespace {

bool same_step(const Cell& predicted, const Cell& measured) {
  constexpr std::array<std::string_view, 9> kAxes{
      "net", "parallel", "workers", "transport", "link", "codec", "plan", "batch", kMachineAxis};
  return std::ranges::all_of(kAxes, [&](std::string_view axis) {
    return chosen(predicted, axis) == chosen(measured, axis);
  });
}

// Of the machine that the profile was measured on; none when there were no steps.
Estimate measured_step(const CellGroup& predicted, const CellGroup& measured) {
  return timing_of(on_machine(measured, machine_of(*predicted.quiet.front()))).mean;
}

Check check_of(const Speed& predicted, const Speed& measured, double step) {
  const Estimate& bounds = predicted.step_ms;
  return {.predicted = predicted.group,
          .measured = measured.group,
          .predicted_ms = bounds.mean,
          .measured_ms = step,
          .relative_error = bounds.mean / step - 1,
          .inside = bounds.low && *bounds.low <= step && step <= *bounds.high};
}

}  // namespace

PredictionCheck prediction_of(const Neighbourhood& all, std::span<const Speed> speed) {
  PredictionCheck found;
  std::vector<double> errors;
  for (const Speed& predicted : speed) {
    const Cell& cell = all[predicted.group].cell;
    if (cell.kind != "predict" || cell.at("profile") != "here" || predicted.step_ms.count == 0)
      continue;
    for (const Speed& measured : speed) {
      const Cell& other = all[measured.group].cell;
      if (other.kind != "speed" || !same_step(cell, other)) continue;
      const Estimate step = measured_step(all[predicted.group], all[measured.group]);
      if (step.count == 0) continue;
      found.checks.push_back(check_of(predicted, measured, step.mean));
      found.inside += found.checks.back().inside ? 1 : 0;
      errors.push_back(std::abs(found.checks.back().relative_error));
    }
  }
  if (errors.empty()) return found;
  found.median = median(errors);
  found.worst = std::ranges::max(errors);
  return found;
}

}  // namespace narrowcast
