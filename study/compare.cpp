#include "study/compare.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "base/error.hpp"
#include "study/analysis/contrast.hpp"
#include "study/kinds/words.hpp"

namespace narrowcast {
namespace {

// A group, and what has to be equal on both sides.
struct Entry {
  std::string key;  // of shared
  Cell shared;
  const CellGroup* group;
};
using Side = std::vector<Entry>;

Contrast errors_against(const BySeed& b, const BySeed& a) {
  const Contrast paired = paired_errors(b, a);
  if (paired.effect.count >= 2) return paired;
  const MeanDifference found = difference(values_of(b), values_of(a));
  return {.effect = found.difference, .p = found.p};
}

// There, or on the machine that most of it was timed on.
Estimate step_of(const CellGroup& group, std::optional<std::string> machine) {
  if (!machine) machine = common_machine(group, group);
  return machine ? timing_of(on_machine(group, *machine)).mean : Estimate{};
}

SideBySide row_of(const Cell& cell, const CellGroup& a, const CellGroup& b) {
  SideBySide row{.cell = cell};
  const BySeed a_errors = values_by_seed(a.done, "last_error");
  const BySeed b_errors = values_by_seed(b.done, "last_error");
  row.a_error = estimate(values_of(a_errors));
  row.b_error = estimate(values_of(b_errors));
  if (a_errors.size() + b_errors.size() > 0) {
    row.a_missing = seeds_without_error(a);
    row.b_missing = seeds_without_error(b);
  }
  if (!a_errors.empty() && !b_errors.empty()) {
    row.error = errors_against(b_errors, a_errors);
    row.error->identical = end_alike(b, a);
  }
  const std::optional<std::string> common = common_machine(a, b);
  row.a_step_ms = step_of(a, common);
  row.b_step_ms = step_of(b, common);
  if (row.a_step_ms.count == 0 || row.b_step_ms.count == 0) return row;
  if (common)
    row.gain = gain_of(b, a);
  else
    row.elsewhere = true;
  return row;
}

void judge(std::vector<SideBySide>& rows, double tolerance) {
  std::vector<Contrast*> errors;
  std::vector<Contrast*> gains;
  for (SideBySide& row : rows) {
    if (row.error) errors.push_back(&*row.error);
    if (row.gain) gains.push_back(&*row.gain);
  }
  correct(errors);
  correct(gains);
  for (SideBySide& row : rows)
    if (row.error)
      row.error->judgement =
          judge_error(*row.error, tolerance, {.own = row.b_missing, .baseline = row.a_missing});
  for (Contrast* each : gains) each->judgement = judge_gain(*each);
}

SidesCompared compared(const Side& a, const Side& b, double tolerance) {
  SidesCompared result;
  for (const Entry& own : a)
    if (const auto other = std::ranges::find(b, own.key, &Entry::key); other == b.end())
      result.only_a.push_back(own.group->cell);
    else
      result.rows.push_back(row_of(own.shared, *own.group, *other->group));
  // Tables of other kinds have neither.
  std::erase_if(result.rows, [](const SideBySide& row) {
    return row.a_error.count + row.b_error.count + row.a_step_ms.count + row.b_step_ms.count == 0;
  });
  for (const Entry& own : b)
    if (std::ranges::find(a, own.key, &Entry::key) == a.end())
      result.only_b.push_back(own.group->cell);
  judge(result.rows, tolerance);
  // Folders have their records in no order that says anything.
  std::ranges::stable_sort(result.rows, {},
                           [](const SideBySide& row) { return name_of(row.cell); });
  return result;
}

Side all_of(std::span<const CellGroup> groups) {
  Side side;
  for (const CellGroup& group : groups)
    if (!group.done.empty()) side.push_back({id_of(group.cell), group.cell, &group});
  return side;
}

// With a codec's name, all plans that it was sent by, each for itself; a plan with rules has a name of its own.
Side those_that_send(std::span<const CellGroup> groups, std::string_view name) {
  Side side;
  bool known = false;
  for (const CellGroup& group : groups) {
    const bool by_codec = sends_as(group.cell, name);
    if (!by_codec && variant_of(group.cell) != name) continue;
    known = true;
    if (group.done.empty()) continue;
    Cell shared = surroundings_of(group.cell);
    if (const std::string plan(chosen(group.cell, "plan")); by_codec && !plan.empty())
      shared.axes["plan"] = plan;
    side.push_back({id_of(shared), shared, &group});
  }
  if (!known) throw Error(Fault::usage, fmt::format("no record is of codec '{}'", name));
  return side;
}

}  // namespace

SidesCompared compare_records(std::span<const CellRecord> a, std::span<const CellRecord> b,
                              double tolerance) {
  const std::vector<CellGroup> a_groups = groups_of(a);
  const std::vector<CellGroup> b_groups = groups_of(b);
  return compared(all_of(a_groups), all_of(b_groups), tolerance);
}

SidesCompared compare_codecs(std::span<const CellRecord> records, const CodecPair& codecs,
                             double tolerance) {
  const std::vector<CellGroup> groups = groups_of(records);
  return compared(those_that_send(groups, codecs.a), those_that_send(groups, codecs.b), tolerance);
}

}  // namespace narrowcast
