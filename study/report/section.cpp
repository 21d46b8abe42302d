#include "study/report/section.hpp"

#include <fmt/core.h>

#include <charconv>

namespace narrowcast {

TableColumn text_column(std::string_view name) { return {.name = std::string(name)}; }

TableColumn verdict_column(std::string_view name) {
  return {.name = std::string(name), .kind = ColumnKind::verdict};
}

TableColumn number_column(std::string_view name, std::string_view unit,
                          std::optional<int> decimals) {
  return {.name = std::string(name),
          .kind = ColumnKind::number,
          .unit = std::string(unit),
          .decimals = decimals};
}

void add_estimate(std::vector<TableColumn>& columns, const TableColumn& number) {
  columns.push_back(number);
  columns.push_back({.name = number.name + " from", .kind = ColumnKind::low, .unit = number.unit});
  columns.push_back({.name = number.name + " to", .kind = ColumnKind::high, .unit = number.unit});
}

void add_estimate(Row& row, const Estimate& estimate) {
  row.push_back(value_of(estimate.count == 0 ? std::nullopt : std::optional(estimate.mean)));
  row.push_back(value_of(estimate.low));
  row.push_back(value_of(estimate.high));
}

void add_estimate(Row& row, const std::optional<Estimate>& estimate) {
  add_estimate(row, estimate.value_or(Estimate{}));
}

void add_contrast(std::vector<TableColumn>& columns, const TableColumn& number) {
  add_estimate(columns, number);
  columns.push_back(number_column("p", "Holm", 3));
  columns.push_back(verdict_column("verdict"));
}

void add_contrast(Row& row, const std::optional<Contrast>& contrast, std::string_view word) {
  add_estimate(row, contrast ? contrast->effect : Estimate{});
  row.push_back(value_of(contrast ? contrast->holm : std::nullopt));
  row.emplace_back(std::string(word));
}

std::string_view speed_word(const std::optional<Contrast>& gain) {
  if (!gain) return "";
  if (gain->judgement == Judgement::better) return "faster";
  if (gain->judgement == Judgement::worse) return "slower";
  return error_word(gain->judgement);
}

std::string_view error_word(const std::optional<Judgement>& judgement) {
  if (!judgement) return "";
  if (*judgement == Judgement::too_little) return "too little data";
  return name_of(*judgement);
}

std::string time_word(const TimeToError& time) {
  if (time.reached == 0) return "never";
  if (!time.is_reached()) return fmt::format("{} of {} only", time.reached, time.seeds);
  return std::string(speed_word(time.gain));
}

std::string source_label(Source source) {
  return source == Source::measured ? "measured" : "predicted";
}

TableValue number_value(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::monostate();
  return number;
}

TableValue scaled(const std::optional<double>& number, double factor) {
  return value_of(number ? std::optional(*number * factor) : std::nullopt);
}

std::vector<const CellGroup*> done_groups(const ReportData& data, std::string_view kind) {
  std::vector<const CellGroup*> groups;
  for (const CellGroup& group : data.analysis.groups)
    if (group.cell.kind == kind && !group.done.empty()) groups.push_back(&group);
  return groups;
}

std::vector<const Cell*> cells_of(std::span<const CellGroup* const> groups) {
  std::vector<const Cell*> cells;
  for (const CellGroup* group : groups) cells.push_back(&group->cell);
  return cells;
}

std::optional<double> mean_value(std::span<const CellRecord* const> records,
                                 std::string_view name) {
  double sum = 0;
  std::size_t count = 0;
  for (const CellRecord* record : records)
    if (const std::optional<double> value = record->value(name)) {
      sum += *value;
      ++count;
    }
  if (count == 0) return std::nullopt;
  return sum / static_cast<double>(count);
}

std::vector<const Speed*> timed(const ReportData& data, Source source) {
  std::vector<const Speed*> all;
  for (const Speed& speed : data.analysis.speed)
    if (speed.source == source && speed.step_ms.count > 0 && !speed.superseded)
      all.push_back(&speed);
  return all;
}

}  // namespace narrowcast
