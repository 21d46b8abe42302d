// How long until the error is reached that the baseline reaches, too.
#include <fmt/core.h>

#include "study/report/rows.hpp"
#include "study/report/settings.hpp"

namespace narrowcast {
namespace {

// The timing's cell, with the data set of the curve.
Cell both(const ReportData& data, const TimeToError& time) {
  Cell cell = data.group(time.timing).cell;
  for (const auto& [axis, value] : data.group(time.curve).cell.axes)
    if (axis == "data" || axis == "plan") cell.axes.try_emplace(axis, value);
  return cell;
}

void add_row(Table& table, const TimeToError& time, const std::string& codec) {
  Row& row = table.rows.back();
  row.emplace_back(codec);
  row.emplace_back(source_label(time.source));
  row.emplace_back(time.target);
  row.emplace_back(fmt::format("{} of {}", time.reached, time.seeds));
  add_estimate(row, time.epochs);
  add_estimate(row, time.epoch_s);
  add_estimate(row, time.seconds);
  add_estimate(row, time.gain ? time.gain->effect : Estimate{});
  row.emplace_back(time_word(time));
}

Figure times_figure(const ReportData& data) {
  std::vector<Cell> cells;
  for (const TimeToError& time : data.analysis.times) cells.push_back(both(data, time));
  std::vector<const Cell*> views;
  for (const Cell& cell : cells) views.push_back(&cell);
  const std::vector<Axes> settings = settings_of(views);
  const SettingColumns columns(settings);
  Figure figure{
      .id = "time-to-accuracy",
      .title = "Seconds until the error is as low as with " + data.study.baseline,
      .caption = fmt::format(
          "Seconds until the test error is as low as the worst seed of {0} gets{1}; shorter is "
          "better. Whiskers and ranges are 95 % intervals, without any where a single run was "
          "timed. A codec has no bar unless every seed came so far. {2}",
          data.study.baseline,
          data.study.tolerance > 0 ? fmt::format(", plus {} points", data.study.tolerance) : "",
          columns.common()),
      .look = {.drawing = Drawing::bars,
               .x = "codec",
               .y = "time",
               .facets = columns.names(),
               .first = data.study.baseline}};
  columns.add_to(figure.table);
  auto& heads = figure.table.columns;
  heads.push_back(text_column("codec"));
  heads.push_back(text_column("source"));
  heads.push_back(number_column("target", "%", 2));
  heads.push_back(text_column("seeds"));
  add_estimate(heads, number_column("epochs", "", 1));
  add_estimate(heads, number_column("epoch", "s"));
  add_estimate(heads, number_column("time", "s"));
  add_estimate(heads, number_column("gain", "times", 2));
  heads.push_back(verdict_column("verdict"));
  for (std::size_t i = 0; i < cells.size(); ++i) {
    columns.add_to(figure.table.rows.emplace_back(), settings[i]);
    add_row(figure.table, data.analysis.times[i], variant_of(cells[i]));
  }
  return figure;
}

std::vector<Block> blocks(const ReportData& data) {
  if (data.analysis.times.empty()) return {};
  return {times_figure(data)};
}

}  // namespace

ReportSection time_to_accuracy_section() {
  return {"time-to-accuracy", "Time to accuracy", blocks};
}

}  // namespace narrowcast
