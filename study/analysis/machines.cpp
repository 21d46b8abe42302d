// Times of different machines are never mixed, nor compared.
#include <algorithm>
#include <set>

#include "study/analysis/grouping.hpp"

namespace narrowcast {
namespace {

bool is_of_times(const Cell& cell) {
  return cell.kind == "speed" || cell.kind == "transfer" ||
         (cell.kind == "predict" && !is_computed(cell));
}

std::set<std::string> machines_of(const CellGroup& group) {
  std::set<std::string> names;
  for (const CellRecord* record : group.done) names.insert(machine_of(*record));
  return names;
}

// That most of the runs were timed on that trained.
std::string usual_machine(std::span<const CellGroup> groups) {
  std::map<std::string, std::size_t> counts;
  for (const CellGroup& group : groups)
    if (group.cell.kind == "train")
      for (const CellRecord* record : group.quiet) ++counts[machine_of(*record)];
  const auto most =
      std::ranges::max_element(counts, {}, [](const auto& each) { return each.second; });
  return most == counts.end() ? std::string() : most->first;
}

void add_parts(const CellGroup& group, std::vector<CellGroup>& parts) {
  for (const std::string& machine : machines_of(group)) {
    CellGroup& part = parts.emplace_back(on_machine(group, machine));
    part.cell.axes[std::string(kMachineAxis)] = machine;
    part.failed = 0;
  }
}

}  // namespace

std::vector<CellGroup> by_machine(std::vector<CellGroup> groups) {
  std::set<std::string> machines;
  for (const CellGroup& group : groups)
    if (is_of_times(group.cell)) machines.merge(machines_of(group));
  const std::string usual = usual_machine(groups);
  std::vector<CellGroup> parts;
  for (CellGroup& group : groups) {
    if (is_of_times(group.cell) && machines.size() > 1 && !group.done.empty()) {
      add_parts(group, parts);
      continue;
    }
    // Errors are of all machines.
    if (group.cell.kind == "train")
      std::erase_if(group.quiet,
                    [&](const CellRecord* record) { return machine_of(*record) != usual; });
    parts.push_back(std::move(group));
  }
  return parts;
}

}  // namespace narrowcast
