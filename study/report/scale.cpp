// Predictions for machines that are not at hand: speedup by the number of workers.
#include "study/report/rows.hpp"
#include "study/report/settings.hpp"

namespace narrowcast {
namespace {

std::vector<const CellGroup*> groups_of(const ReportData& data) {
  std::vector<const CellGroup*> groups = done_groups(data, "predict");
  std::erase_if(groups, [](const CellGroup* group) {
    return group->at("profile") == "here" || !mean_value(group->done, "speedup");
  });
  return groups;
}

std::vector<Block> blocks(const ReportData& data) {
  const std::vector<const CellGroup*> groups = groups_of(data);
  if (groups.empty()) return {};
  const std::vector<Axes> settings = settings_of(cells_of(groups));
  const SettingColumns columns(settings, "workers");
  Figure figure{
      .id = "scale",
      .title = "Speedup by workers, predicted",
      .caption = "Times as many samples a second as one worker alone. " + columns.common(),
      .look = {.drawing = Drawing::line,
               .x = "workers",
               .y = "speedup",
               .series = "codec",
               .facets = columns.names(),
               .x_scale = AxisScale::logarithmic,
               .y_scale = AxisScale::logarithmic,
               .first = data.study.baseline}};
  columns.add_to(figure.table);
  auto& heads = figure.table.columns;
  heads.push_back(text_column("codec"));
  heads.push_back(number_column("workers", "", 0));
  heads.push_back(number_column("speedup", "times one worker", 2));
  heads.push_back(number_column("over fp32", "times", 2));
  add_estimate(heads, number_column("step", "ms"));
  heads.push_back(number_column("sent by a worker", "MB"));
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const auto mean = [&](std::string_view name) { return mean_value(groups[i]->done, name); };
    Row& row = figure.table.rows.emplace_back();
    columns.add_to(row, settings[i]);
    row.emplace_back(variant_of(groups[i]->cell));
    row.push_back(number_value(groups[i]->at("workers")));
    row.push_back(value_of(mean("speedup")));
    row.push_back(value_of(mean("over_fp32")));
    row.push_back(value_of(mean("step_ms")));
    row.push_back(value_of(mean("low_ms")));
    row.push_back(value_of(mean("high_ms")));
    row.push_back(scaled(mean("wire_bytes"), 1e-6));
  }
  return {figure};
}

}  // namespace

ReportSection scale_section() { return {"scale", "Predictions at scale", blocks}; }

}  // namespace narrowcast
