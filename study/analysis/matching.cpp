// Which error curves hold for which times.
#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "study/analysis/parts.hpp"
#include "study/kinds/words.hpp"

namespace narrowcast {
namespace {

// All that a run is besides its kind, as text.
std::string axes_of(const Cell& cell) {
  std::string all;
  for (const auto& [axis, value] : cell.axes)
    if (value != "none" && axis != kMachineAxis)
      all.append(axis).append(1, '\0').append(value).append(1, '\0');
  return all;
}

// Without what changes no bit of a gradient.
Cell curve_of(Cell cell) {
  cell.axes.erase("transport");
  cell.axes.erase("link");
  cell.settings.erase(std::string(kLauncher));
  cell.settings.erase(std::string(kHosts));
  return cell;
}

// Of a worker; empty when neither the study nor the run says so.
std::string batch_of(const CellGroup& group) {
  if (const std::string_view named = chosen(group.cell, "batch"); !named.empty())
    return std::string(named);
  const BySeed recorded = values_by_seed(group.done, "batch");
  return recorded.empty() ? "" : std::to_string(std::lround(recorded.begin()->second));
}

bool agree(std::string_view a, std::string_view b) { return a.empty() || b.empty() || a == b; }

bool holds_for(const CellGroup& curve, const CellGroup& timing) {
  constexpr std::array<std::string_view, 4> kEqual{"net", "workers", "codec", "plan"};
  constexpr std::array<std::string_view, 2> kAgree{"data", "parallel"};
  return std::ranges::all_of(kEqual,
                             [&](std::string_view axis) {
                               return chosen(curve.cell, axis) == chosen(timing.cell, axis);
                             }) &&
         std::ranges::all_of(kAgree,
                             [&](std::string_view axis) {
                               return agree(chosen(curve.cell, axis), chosen(timing.cell, axis));
                             }) &&
         agree(batch_of(curve), batch_of(timing));
}

bool same_wires(const CellGroup& a, const CellGroup& b) {
  return chosen(a.cell, "transport") == chosen(b.cell, "transport") &&
         chosen(a.cell, "link") == chosen(b.cell, "link");
}

}  // namespace

std::vector<const Speed*> timings_of(const Neighbourhood& all, std::span<const Speed> speed) {
  std::set<std::string> timed;
  for (const Speed& each : speed)
    if (all[each.group].cell.kind == "speed" && each.step_ms.count > 0)
      timed.insert(axes_of(all[each.group].cell));
  std::vector<const Speed*> timings;
  for (const Speed& each : speed) {
    const Cell& cell = all[each.group].cell;
    if (cell.kind != "train" || !timed.contains(axes_of(cell))) timings.push_back(&each);
  }
  return timings;
}

std::vector<std::size_t> curves_for(const Neighbourhood& all, std::size_t timing) {
  // A run that is timed itself has its own.
  if (all[timing].cell.kind == "train") return {timing};
  std::vector<std::size_t> curves;
  std::map<std::string, std::size_t> places;
  for (std::size_t group = 0; group < all.groups().size(); ++group) {
    const CellGroup& curve = all[group];
    if (curve.cell.kind != "train" || !holds_for(curve, all[timing])) continue;
    const auto [place, is_new] = places.emplace(id_of(curve_of(curve.cell)), curves.size());
    if (is_new)
      curves.push_back(group);
    else if (same_wires(curve, all[timing]))
      curves[place->second] = group;
  }
  return curves;
}

}  // namespace narrowcast
