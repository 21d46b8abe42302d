// Steps that were predicted for this machine, beside what they took.
#include <fmt/core.h>

#include "study/report/rows.hpp"
#include "study/report/settings.hpp"

namespace narrowcast {
namespace {

Figure checks_figure(const ReportData& data) {
  const std::vector<Check>& checks = data.analysis.prediction.checks;
  std::vector<const Cell*> cells;
  for (const Check& check : checks) cells.push_back(&data.group(check.measured).cell);
  const std::vector<Axes> settings = settings_of(cells);
  const SettingColumns columns(settings);
  Figure figure{.id = "prediction",
                .title = "A step in milliseconds",
                .caption = "On the dashed line both are equal. " + columns.common(),
                .look = {.drawing = Drawing::scatter,
                         .x = "measured",
                         .y = "predicted",
                         .series = "codec",
                         .x_scale = AxisScale::logarithmic,
                         .y_scale = AxisScale::logarithmic,
                         .first = data.study.baseline}};
  columns.add_to(figure.table);
  auto& heads = figure.table.columns;
  heads.push_back(text_column("codec"));
  heads.push_back(number_column("measured", "ms"));
  heads.push_back(number_column("predicted", "ms"));
  heads.push_back(number_column("off", "%", 1));
  heads.push_back(verdict_column("inside its bounds"));
  for (std::size_t i = 0; i < checks.size(); ++i) {
    Row& row = figure.table.rows.emplace_back();
    columns.add_to(row, settings[i]);
    row.emplace_back(variant_of(*cells[i]));
    row.emplace_back(checks[i].measured_ms);
    row.emplace_back(checks[i].predicted_ms);
    row.emplace_back(100 * checks[i].relative_error);
    row.emplace_back(std::string(checks[i].inside ? "yes" : "no"));
  }
  return figure;
}

std::vector<Block> blocks(const ReportData& data) {
  const PredictionCheck& found = data.analysis.prediction;
  if (found.checks.empty()) return {};
  return {Text{fmt::format("{} of {} measured steps lie inside the bounds that were predicted; the "
                           "median error is {:.1f}\u00a0%, the "
                           "worst {:.1f}\u00a0%.",
                           found.inside, found.checks.size(), 100 * found.median.value_or(0),
                           100 * found.worst.value_or(0))},
          checks_figure(data)};
}

}  // namespace

ReportSection prediction_section() { return {"prediction", "Predicted against measured", blocks}; }

}  // namespace narrowcast
