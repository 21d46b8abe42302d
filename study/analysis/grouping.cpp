#include "study/analysis/grouping.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "study/kinds/words.hpp"

namespace narrowcast {
namespace {

void take(const CellRecord& record, CellGroup& group) {
  if (record.state == CellState::failed) {
    ++group.failed;
    return;
  }
  group.done.push_back(&record);
  if (times_count(record)) group.quiet.push_back(&record);
}

Cell without_seed(Cell cell) {
  cell.axes.erase("seed");
  return cell;
}

}  // namespace

std::string_view CellGroup::at(std::string_view axis) const { return cell.at(axis); }

std::string variant_of(const Cell& cell) {
  const std::string_view codec = cell.at("codec");
  const std::string_view plan = chosen(cell, "plan");
  if (plan.empty()) return std::string(codec);
  return cell.settings.contains("plan.rule") ? std::string(plan)
                                             : fmt::format("{} ({})", codec, plan);
}

std::vector<CellGroup> groups_of(std::span<const CellRecord> records) {
  std::map<std::string, const CellRecord*> last;  // by cell: what counts of it
  for (const CellRecord& record : records) {
    const CellRecord*& counts = last[id_of(record.cell)];
    if (counts == nullptr || record.state == CellState::done || counts->state == CellState::failed)
      counts = &record;
  }
  std::vector<CellGroup> groups;
  std::map<std::string, std::size_t> places;
  for (const CellRecord& record : records) {
    Cell cell = without_seed(record.cell);
    const auto [place, is_new] = places.emplace(id_of(cell), groups.size());
    if (is_new) groups.push_back({.cell = std::move(cell)});
    if (last.at(id_of(record.cell)) == &record) take(record, groups[place->second]);
  }
  return groups;
}

bool describes_sending(std::string_view setting) {
  return setting == "codec" || setting == "scaling" || setting == "feedback" ||
         setting.starts_with("plan.");
}

Cell surroundings_of(const Cell& cell) {
  Cell shared = without_seed(cell);
  shared.axes.erase("codec");
  shared.axes.erase("plan");
  std::erase_if(shared.axes, [](const auto& axis) { return axis.second == "none"; });
  std::erase_if(shared.settings, [](const auto& each) { return describes_sending(each.first); });
  return shared;
}

bool sends_as(const Cell& cell, std::string_view codec) {
  return cell.at("codec") == codec && !cell.settings.contains("plan.rule");
}

Neighbourhood::Neighbourhood(std::span<const CellGroup> groups, std::string_view baseline)
    : groups_(groups), baseline_(baseline) {
  std::map<std::string, std::size_t> known;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const auto [street, is_new] =
        known.emplace(id_of(surroundings_of(groups[i].cell)), streets_.size());
    if (is_new) streets_.emplace_back();
    streets_[street->second].push_back(i);
    street_of_.push_back(street->second);
  }
}

bool Neighbourhood::is_baseline(std::size_t group) const {
  return sends_as(groups_[group].cell, baseline_);
}

std::optional<std::size_t> Neighbourhood::baseline_of(std::size_t group) const {
  if (is_baseline(group)) return std::nullopt;
  std::vector<std::size_t> found;
  for (const std::size_t other : streets_[street_of_[group]]) {
    if (!is_baseline(other)) continue;
    if (chosen(groups_[other].cell, "plan") == chosen(groups_[group].cell, "plan")) return other;
    found.push_back(other);
  }
  const auto plain = std::ranges::find_if(
      found, [&](std::size_t other) { return chosen(groups_[other].cell, "plan").empty(); });
  if (plain != found.end()) return *plain;
  return found.size() == 1 ? std::optional(found.front()) : std::nullopt;
}

std::string machine_of(const CellRecord& record) {
  if (is_computed(record.cell)) return "";
  return fmt::format("{} x {}", record.machine.cores, record.machine.cpu);
}

CellGroup on_machine(CellGroup group, std::string_view machine) {
  const auto elsewhere = [&](const CellRecord* record) { return machine_of(*record) != machine; };
  std::erase_if(group.done, elsewhere);
  std::erase_if(group.quiet, elsewhere);
  return group;
}

BySeed values_by_seed(std::span<const CellRecord* const> records, std::string_view name) {
  BySeed values;
  for (const CellRecord* record : records)
    if (const auto value = record->value(name); value && std::isfinite(*value))
      values[std::string(record->cell.at("seed"))] = *value;
  return values;
}

std::vector<double> values_of(const BySeed& values) {
  std::vector<double> all;
  for (const auto& [seed, value] : values) all.push_back(value);
  return all;
}

}  // namespace narrowcast
