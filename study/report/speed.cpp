// Examples a second, by the number of workers.
#include <set>

#include "study/report/rows.hpp"
#include "study/report/settings.hpp"

namespace narrowcast {
namespace {

std::vector<const Cell*> cells_of(const ReportData& data, std::span<const Speed* const> speeds) {
  std::vector<const Cell*> cells;
  for (const Speed* speed : speeds) cells.push_back(&data.group(speed->group).cell);
  return cells;
}

std::vector<Block> blocks(const ReportData& data) {
  std::vector<const Speed*> speeds = timed(data, Source::measured);
  std::erase_if(speeds, [](const Speed* speed) { return speed->images_per_s.count == 0; });
  if (speeds.empty()) return {};
  const std::vector<Axes> settings = settings_of(cells_of(data, speeds));
  std::set<std::string_view> counts;
  for (const Speed* speed : speeds) counts.insert(data.group(speed->group).at("workers"));
  const SettingColumns columns(settings, "workers");
  Figure figure{.id = "samples",
                .title = "Samples a second by workers",
                .caption = "Of all workers together, measured; more is better. " + columns.common(),
                .look = {.drawing = Drawing::line,
                         .x = "workers",
                         .y = "speed",
                         .series = "codec",
                         .facets = columns.names(),
                         .x_scale = AxisScale::logarithmic,
                         .first = data.study.baseline}};
  if (counts.size() == 1) {
    figure.look.drawing = Drawing::bars;
    figure.look.x = "codec";
    figure.look.series = "";
    figure.title = "Samples a second with " + axis_value("workers", *counts.begin());
  }
  columns.add_to(figure.table);
  figure.table.columns.push_back(text_column("codec"));
  figure.table.columns.push_back(number_column("workers", "", 0));
  add_estimate(figure.table.columns, number_column("speed", "samples/s"));
  add_estimate(figure.table.columns, number_column("step", "ms"));
  add_contrast(figure.table.columns, number_column("gain", "times", 2));
  for (std::size_t i = 0; i < speeds.size(); ++i) {
    const CellGroup& group = data.group(speeds[i]->group);
    Row& row = figure.table.rows.emplace_back();
    columns.add_to(row, settings[i]);
    row.emplace_back(variant_of(group.cell));
    row.push_back(number_value(group.at("workers")));
    add_estimate(row, speeds[i]->images_per_s);
    add_estimate(row, speeds[i]->step_ms);
    add_contrast(row, speeds[i]->gain, speed_word(speeds[i]->gain));
  }
  return {figure};
}

}  // namespace

ReportSection speed_section() { return {"samples", "Samples a second", blocks}; }

}  // namespace narrowcast
