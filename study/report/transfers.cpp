// Matrices from one rank to another, as D16 measured them.
#include "study/report/rows.hpp"
#include "study/report/settings.hpp"

namespace narrowcast {
namespace {

std::vector<Block> blocks(const ReportData& data) {
  std::vector<const CellGroup*> groups = done_groups(data, "transfer");
  std::erase_if(groups, [](const CellGroup* group) { return group->quiet.empty(); });
  if (groups.empty()) return {};
  const std::vector<Axes> settings = settings_of(cells_of(groups));
  const SettingColumns columns(settings, "size");
  Figure figure{
      .id = "transfers",
      .title = "Speedup of a transfer",
      .caption =
          "How many times as quick as in fp32 a matrix comes from one rank to another, decoded. " +
          columns.common(),
      .look = {.drawing = Drawing::line,
               .x = "size",
               .y = "speedup",
               .series = "codec",
               .facets = columns.names(),
               .x_scale = AxisScale::logarithmic,
               .mark = 1,
               .first = data.study.baseline}};
  columns.add_to(figure.table);
  auto& heads = figure.table.columns;
  heads.push_back(text_column("codec"));
  heads.push_back(number_column("size", "KiB"));
  heads.push_back(number_column("time", "µs"));
  heads.push_back(number_column("fp32", "µs"));
  add_estimate(heads, number_column("speedup", "times", 2));
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const CellGroup& group = *groups[i];
    std::vector<double> speedups;
    for (const CellRecord* record : group.quiet)
      if (const auto speedup = record->value("speedup")) speedups.push_back(*speedup);
    Row& row = figure.table.rows.emplace_back();
    columns.add_to(row, settings[i]);
    row.emplace_back(variant_of(group.cell));
    row.push_back(scaled(mean_value(group.quiet, "bytes"), 1.0 / 1024));
    row.push_back(value_of(mean_value(group.quiet, "time_us")));
    row.push_back(value_of(mean_value(group.quiet, "fp32_us")));
    add_estimate(row, speedups.empty() ? Estimate{} : estimate(speedups));
  }
  return {figure};
}

}  // namespace

ReportSection transfers_section() { return {"transfers", "Transfers by size", blocks}; }

}  // namespace narrowcast
