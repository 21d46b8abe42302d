// Test errors by epoch: the mean over seeds, and where it should lie.
#include <algorithm>
#include <map>

#include "study/report/rows.hpp"
#include "study/report/settings.hpp"

namespace narrowcast {
namespace {

// From so large a ratio of errors on, the low ones would lie on the ground.
constexpr double kLogarithmicFrom = 5;

std::map<double, std::vector<double>> errors_by_epoch(const CellGroup& group) {
  std::map<double, std::vector<double>> errors;
  for (const CellRecord* record : group.done)
    for (const EpochPoint& point : record->epochs)
      if (point.test_error) errors[point.epoch].push_back(*point.test_error);
  return errors;
}

AxisScale scale_of(const Table& table) {
  const std::size_t column = table.column("test error");
  double low = 100;
  double high = 0;
  for (const Row& row : table.rows)
    if (const auto* error = std::get_if<double>(&row[column])) {
      low = std::min(low, *error);
      high = std::max(high, *error);
    }
  return low > 0 && high / low >= kLogarithmicFrom ? AxisScale::logarithmic : AxisScale::linear;
}

std::vector<Block> blocks(const ReportData& data) {
  std::vector<const CellGroup*> groups;
  std::vector<const Cell*> cells;
  for (const CellGroup& group : data.analysis.groups)
    if (group.cell.kind == "train" && !errors_by_epoch(group).empty()) {
      groups.push_back(&group);
      cells.push_back(&group.cell);
    }
  if (groups.empty()) return {};
  const std::vector<Axes> settings = settings_of(cells);
  const SettingColumns columns(settings);
  Figure figure{.id = "error-curves",
                .title = "Test error by epoch",
                .caption =
                    "Lines are means over seeds, bands their 95 % intervals. Touch a name to hide "
                    "its line. " +
                    columns.common(),
                .look = {.drawing = Drawing::line,
                         .x = "epoch",
                         .y = "test error",
                         .series = "codec",
                         .facets = columns.names(),
                         .first = data.study.baseline}};
  columns.add_to(figure.table);
  figure.table.columns.push_back(text_column("codec"));
  figure.table.columns.push_back(number_column("epoch"));
  add_estimate(figure.table.columns, number_column("test error", "%", 2));
  figure.table.columns.push_back(number_column("seeds"));
  for (std::size_t i = 0; i < groups.size(); ++i)
    for (const auto& [epoch, errors] : errors_by_epoch(*groups[i])) {
      Row& row = figure.table.rows.emplace_back();
      columns.add_to(row, settings[i]);
      row.emplace_back(variant_of(groups[i]->cell));
      row.emplace_back(epoch);
      add_estimate(row, estimate(errors));
      row.emplace_back(static_cast<double>(errors.size()));
    }
  figure.look.y_scale = scale_of(figure.table);
  return {figure};
}

}  // namespace

ReportSection curves_section() { return {"error-curves", "Error curves", blocks}; }

}  // namespace narrowcast
