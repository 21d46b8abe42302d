#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "study/analysis.hpp"

// Which records belong together.
namespace narrowcast {

std::vector<CellGroup> groups_of(std::span<const CellRecord> records);

// Settings that say what the names of codec and plan stand for.
bool describes_sending(std::string_view setting);

// What two ways of sending share: no axes "codec", "plan" and "seed", nothing that is "none", and no
// settings that describe sending.
Cell surroundings_of(const Cell& cell);

// Sends everything as the baseline does: rules of a plan would say otherwise.
bool sends_as(const Cell& cell, std::string_view codec);

// Groups and the baselines they are compared with.
class Neighbourhood {
 public:
  Neighbourhood(std::span<const CellGroup> groups, std::string_view baseline);

  std::span<const CellGroup> groups() const { return groups_; }
  const CellGroup& operator[](std::size_t group) const { return groups_[group]; }
  bool is_baseline(std::size_t group) const;
  // None for a baseline, and where there is none.
  std::optional<std::size_t> baseline_of(std::size_t group) const;
  // Groups with the same surroundings, all groups in all.
  std::span<const std::vector<std::size_t>> streets() const { return streets_; }

 private:
  std::span<const CellGroup> groups_;
  std::string baseline_;
  std::vector<std::vector<std::size_t>> streets_ = {};
  std::vector<std::size_t> street_of_ = {};
};

// What times depend on besides the cell; equal for those that no machine was needed for.
std::string machine_of(const CellRecord& record);
// Only its records of there.
CellGroup on_machine(CellGroup group, std::string_view machine);

// An axis of groups, not of cells: where times are of several machines, each group is of one of them.
inline constexpr std::string_view kMachineAxis = "machine";
// Groups of which no time is another machine's. Training keeps all its errors, and the times of the machine that most
// of it was timed on.
std::vector<CellGroup> by_machine(std::vector<CellGroup> groups);

// By seed; of records that have such a value, a finite one.
using BySeed = std::map<std::string, double, std::less<>>;
BySeed values_by_seed(std::span<const CellRecord* const> records, std::string_view name);
std::vector<double> values_of(const BySeed& values);

}  // namespace narrowcast
