// Every cell: its configuration, what became of it, and how to repeat it.
#include <fmt/core.h>

#include <algorithm>

#include "study/report/rows.hpp"
#include "study/report/settings.hpp"

namespace narrowcast {
namespace {

std::string configuration(const Cell& cell) {
  std::string text;
  for (const auto& [axis, value] : cell.axes)
    if (axis != "net" && axis != "data")
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", axis, value);
  for (const auto& [key, value] : cell.settings)
    if (key != "codec" || value != cell.at("codec"))
      text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", key, value);
  return text;
}

// What its fold is called.
std::string folder_of(const Cell& cell) {
  std::string text = cell.kind;
  for (const std::string_view axis : {"net", "model", "data", "profile"})
    if (const std::string_view value = cell.at(axis); !value.empty() && value != "none")
      text += " \u00b7 " + std::string(value);
  return text;
}

std::string commands(const CellRecord& record) {
  std::string text;
  for (const std::string& command : record.commands) text += (text.empty() ? "" : "\n") + command;
  return text;
}

Row row_of(const CellRecord& record) {
  return {folder_of(record.cell),
          configuration(record.cell),
          record.state == CellState::done ? "done" : "failed",
          record.seconds,
          100 * record.others,
          record.machine.name,
          record.started,
          commands(record),
          id_of(record.cell)};
}

Figure all_cells(std::span<const CellRecord> records) {
  Figure figure{.id = "cells",
                .title = "Every cell",
                .caption = fmt::format("Times that were measured while other programs used more "
                                       "than {:.0f} % of the machine do not count.",
                                       100 * kBusy),
                .table = {.columns = {text_column("part of the study"),
                                      text_column("configuration"),
                                      verdict_column("state"),
                                      number_column("took", "s", 1),
                                      number_column("others", "% of the machine", 0),
                                      text_column("machine"),
                                      text_column("started"),
                                      {.name = "to repeat it", .kind = ColumnKind::code},
                                      {.name = "cell", .kind = ColumnKind::code}}},
                .fold_by = "part of the study"};
  for (const CellRecord& record : records) figure.table.rows.push_back(row_of(record));
  return figure;
}

Figure failures(std::span<const CellRecord> records) {
  Figure figure{.id = "failures",
                .title = "Failed",
                .table = {.columns = {text_column("cell"),
                                      text_column("message"),
                                      number_column("tries"),
                                      text_column("machine"),
                                      {.name = "to repeat it", .kind = ColumnKind::code}}},
                .showing = Showing::open};
  for (const CellRecord& record : records)
    if (record.state == CellState::failed)
      figure.table.rows.push_back({name_of(record.cell), record.message,
                                   static_cast<double>(record.tries), record.machine.name,
                                   commands(record)});
  return figure;
}

std::vector<Block> blocks(const ReportData& data) {
  if (data.records.empty()) return {};
  std::vector<Block> all;
  if (std::ranges::any_of(
          data.records, [](const CellRecord& record) { return record.state == CellState::failed; }))
    all.emplace_back(failures(data.records));
  all.emplace_back(all_cells(data.records));
  return all;
}

}  // namespace

ReportSection cells_section() { return {"cells", "Every cell, and how to repeat it", blocks}; }

}  // namespace narrowcast
