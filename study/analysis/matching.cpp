// Which error curves hold for which times.
#include <algorithm>
#include <array>
#include <cmath>

#include "study/analysis/parts.hpp"
#include "study/kinds/words.hpp"

namespace narrowcast {
namespace {

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

bool same_work(const CellGroup& a, const CellGroup& b) {
  const auto equal = [&](std::string_view axis) {
    return chosen(a.cell, axis) == chosen(b.cell, axis);
  };
  const auto may_be_equal = [&](std::string_view axis) {
    return agree(chosen(a.cell, axis), chosen(b.cell, axis));
  };
  return equal("net") && equal("workers") && may_be_equal("data") && may_be_equal("parallel") &&
         agree(batch_of(a), batch_of(b));
}

bool same_wires(const CellGroup& a, const CellGroup& b) {
  return chosen(a.cell, "transport") == chosen(b.cell, "transport") &&
         chosen(a.cell, "link") == chosen(b.cell, "link");
}

// By these a run learns nothing else; it is longer, takes another time or leaves other notes.
bool is_of_times(std::string_view setting) {
  constexpr std::array kSettings{std::string_view("epochs"),
                                 std::string_view("steps"),
                                 std::string_view("test"),
                                 std::string_view("hash_every"),
                                 std::string_view("threads"),
                                 std::string_view("data_folder"),
                                 std::string_view("images"),
                                 std::string_view("seconds"),
                                 std::string_view("fusion"),
                                 std::string_view("plan.fusion"),
                                 std::string_view("plan.deadline"),
                                 std::string_view("plan.key_file"),
                                 kLauncher,
                                 kHosts};
  return std::ranges::find(kSettings, setting) != kSettings.end();
}

// The other settings. A prediction has its all-reduce by another name; fp32 is rounded by none of them, and "direct" is
// what there is when nobody says anything.
std::map<std::string, std::string> learnt_by(const Cell& cell) {
  const bool plain =
      setting_or(cell, "codec", cell.at("codec")) == "fp32" && !cell.settings.contains("plan.rule");
  std::map<std::string, std::string> settings;
  for (const auto& [key, value] : cell.settings) {
    const std::string name = key == "algorithm" ? "plan.algorithm" : key;
    const bool of_sums = name == "plan.algorithm" || name == "plan.group";
    const bool usual = name == "plan.algorithm" && value == "direct";
    if (!is_of_times(name) && !usual && !(of_sums && plain)) settings.emplace(name, value);
  }
  return settings;
}

bool learn_alike(const Cell& curve, const Cell& timing) {
  auto learnt = learnt_by(curve);
  // Predictions know nothing of optimisers.
  if (timing.kind == "predict")
    std::erase_if(learnt, [](const auto& each) { return !describes_sending(each.first); });
  return learnt == learnt_by(timing);
}

bool holds_for(const CellGroup& curve, const CellGroup& timing) {
  return same_work(curve, timing) && chosen(curve.cell, "codec") == chosen(timing.cell, "codec") &&
         chosen(curve.cell, "plan") == chosen(timing.cell, "plan") &&
         learn_alike(curve.cell, timing.cell);
}

}  // namespace

void find_superseded(const Neighbourhood& all, std::vector<Speed>& speed) {
  std::vector<const CellGroup*> timed;
  for (const Speed& each : speed)
    if (all[each.group].cell.kind == "speed" && each.step_ms.count > 0)
      timed.push_back(&all[each.group]);
  for (Speed& each : speed) {
    const CellGroup& own = all[each.group];
    each.superseded =
        own.cell.kind == "train" && std::ranges::any_of(timed, [&](const CellGroup* other) {
          return same_work(own, *other) && same_wires(own, *other);
        });
  }
}

std::vector<const Speed*> timings_of(std::span<const Speed> speed) {
  std::vector<const Speed*> timings;
  for (const Speed& each : speed)
    if (!each.superseded) timings.push_back(&each);
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
