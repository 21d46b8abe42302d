// How many times as quick as the baseline: networks and links down, codecs across.
#include <fmt/core.h>

#include "study/report/rows.hpp"
#include "study/report/settings.hpp"

namespace narrowcast {
namespace {

std::vector<const Speed*> compared(const ReportData& data, Source source) {
  std::vector<const Speed*> speeds = timed(data, source);
  // Predictions for here stand beside what they were compared with. Where there is no gain yet, a map is blank.
  std::erase_if(speeds, [&](const Speed* speed) {
    return !speed->gain || speed->gain->effect.count == 0 ||
           data.group(speed->group).at("profile") == "here";
  });
  return speeds;
}

Figure gains(const ReportData& data, std::span<const Speed* const> speeds, Source source) {
  std::vector<const Cell*> cells;
  for (const Speed* speed : speeds) cells.push_back(&data.group(speed->group).cell);
  const std::vector<Axes> settings = settings_of(cells);
  const SettingColumns columns(settings);
  const bool measured = source == Source::measured;
  Figure figure{.id = measured ? "speedup" : "speedup-predicted",
                .title = measured ? "Speedup, measured" : "Speedup, predicted",
                .caption = fmt::format("How many times as quick as {} a step is: blue is quicker, "
                                       "orange slower. Intervals and verdicts "
                                       "are in the CSV. {}",
                                       data.study.baseline, columns.common()),
                .look = {.drawing = Drawing::heat,
                         .y = "gain",
                         .series = "codec",
                         .facets = columns.names(),
                         .mark = 1}};
  columns.add_to(figure.table);
  figure.table.columns.push_back(text_column("codec"));
  add_contrast(figure.table.columns, number_column("gain", "times", 2));
  for (std::size_t i = 0; i < speeds.size(); ++i) {
    Row& row = figure.table.rows.emplace_back();
    columns.add_to(row, settings[i]);
    row.emplace_back(variant_of(*cells[i]));
    add_contrast(row, speeds[i]->gain, speed_word(speeds[i]->gain));
  }
  return figure;
}

std::vector<Block> blocks(const ReportData& data) {
  std::vector<Block> all;
  for (const Source source : {Source::measured, Source::predicted})
    if (const auto speeds = compared(data, source); !speeds.empty())
      all.emplace_back(gains(data, speeds, source));
  return all;
}

}  // namespace

ReportSection heat_map_section() {
  return {"speedup", "Speedup by network, link and codec", blocks};
}

}  // namespace narrowcast
