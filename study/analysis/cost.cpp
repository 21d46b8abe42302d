// What an epoch costs.
#include <cmath>

#include "plan/values.hpp"
#include "study/analysis/parts.hpp"
#include "study/kinds/words.hpp"

namespace narrowcast {
namespace {

// An axis, a setting or a value of the record; none unless it is a number above 0.
std::optional<double> number_of(const CellRecord& record, std::string_view name) {
  const std::string_view axis = chosen(record.cell, name);
  const std::string text = axis.empty() ? setting_or(record.cell, name, "") : std::string(axis);
  const std::optional<double> number = text.empty() ? record.value(name) : real_of(text);
  return number && std::isfinite(*number) && *number > 0 ? number : std::nullopt;
}

std::optional<EpochCost> cost_of(const CellGroup& group, const Speed& speed) {
  if (speed.step_ms.count == 0) return std::nullopt;
  const CellRecord& record = *group.quiet.front();
  const auto images = number_of(record, "images");
  const auto batch = number_of(record, "batch");
  const auto workers = number_of(record, "workers");
  const auto price = number_of(record, "price");
  if (!images || !batch || !workers || !price) return std::nullopt;
  // In model parallelism, too, where all workers see all of these images.
  const double seconds = std::ceil(*images / (*batch * *workers)) * speed.step_ms.mean / 1000;
  return EpochCost{
      .group = speed.group, .seconds = seconds, .price = seconds / 3600 * *workers * *price};
}

}  // namespace

std::vector<EpochCost> cost_of(const Neighbourhood& all, std::span<const Speed> speed) {
  std::vector<EpochCost> costs;
  std::map<std::size_t, double> prices;
  for (const Speed& each : speed)
    if (each.source == Source::predicted)
      if (const auto cost = cost_of(all[each.group], each)) {
        costs.push_back(*cost);
        prices[each.group] = cost->price;
      }
  for (EpochCost& cost : costs)
    if (const auto baseline = all.baseline_of(cost.group); baseline && prices.contains(*baseline))
      cost.over_baseline = cost.price / prices.at(*baseline);
  return costs;
}

}  // namespace narrowcast
