#include "study/report/answer_table.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "study/analysis/grouping.hpp"
#include "study/report/settings.hpp"

namespace narrowcast {
namespace {

// Longer tables are closed at first.
constexpr std::size_t kCompact = 24;

// The choice that a setting's row shows: it says why the answer is what it is.
const Choice* shown(const StudySetting& setting) {
  if (setting.best) return &setting.choices[*setting.best];
  const auto why = std::ranges::find(setting.choices, setting.pays, &Choice::pays);
  return why == setting.choices.end() ? nullptr : &*why;
}

// A setting has no settings of cells: where two have equal axes, their cells tell them apart. How a codec is sent is the
// codec's, not the setting's.
Cell cell_of(const ReportData& data, const StudySetting& setting) {
  Cell cell{.kind = source_label(setting.source), .axes = setting.axes};
  if (!setting.choices.empty())
    for (const auto& [key, value] : data.group(setting.choices.front().timing).cell.settings)
      if (!describes_sending(key)) cell.settings.emplace(key, value);
  return cell;
}

std::string caption(const ReportData& data, Source source, const std::string& common) {
  return fmt::format(
      "The codec that decides a setting: the quickest of those that do, or where none pays "
      "one that reaches {0}'s error sooner. Gain is how many times as quick as {0} a step "
      "is, with {1}, time the verdict on it, and time to error that on all the time until "
      "{0}'s error is reached. {2}",
      data.study.baseline,
      source == Source::measured ? "its 95 % interval" : "the prediction's bounds", common);
}

// What people look for first is what a phone shows.
void add_answer(Row& row, const ReportData& data, const StudySetting& setting) {
  const Choice* choice = shown(setting);
  row.emplace_back(std::string(name_of(setting.pays)));
  add_estimate(row, choice == nullptr ? Estimate{} : choice->gain.effect);
  row.emplace_back(choice == nullptr ? std::string() : variant_of(data.group(choice->timing).cell));
}

void add_judgements(Row& row, const ReportData& data, const Choice* choice) {
  if (choice == nullptr) {
    row.resize(row.size() + 3, std::string());
    return;
  }
  row.emplace_back(std::string(speed_word(choice->gain)));
  row.emplace_back(std::string(choice->accuracy ? error_word(*choice->accuracy) : "not measured"));
  row.emplace_back(choice->time ? time_word(data.analysis.times[*choice->time]) : std::string());
}

}  // namespace

Figure answer_table(const ReportData& data, Source source) {
  std::vector<const StudySetting*> settings;
  std::vector<Cell> cells;
  for (const StudySetting& setting : data.analysis.answer.settings)
    if (setting.source == source) {
      settings.push_back(&setting);
      cells.push_back(cell_of(data, setting));
    }
  std::vector<const Cell*> views;
  for (const Cell& cell : cells) views.push_back(&cell);
  const std::vector<Axes> axes = settings_of(views);
  const SettingColumns columns(axes);
  const bool measured = source == Source::measured;
  Figure figure{.id = measured ? "answer" : "answer-predicted",
                .title = measured ? "Measured settings" : "Predicted settings",
                .caption = caption(data, source, columns.common()),
                .showing = settings.size() > kCompact ? Showing::folded : Showing::open};
  figure.table.columns.push_back(verdict_column("pays"));
  add_estimate(figure.table.columns, number_column("gain", "times", 2));
  figure.table.columns.push_back(text_column("codec"));
  columns.add_to(figure.table);
  figure.table.columns.push_back(verdict_column("time"));
  figure.table.columns.push_back(verdict_column("error"));
  figure.table.columns.push_back(verdict_column("time to error"));
  for (std::size_t i = 0; i < settings.size(); ++i) {
    Row& row = figure.table.rows.emplace_back();
    add_answer(row, data, *settings[i]);
    columns.add_to(row, axes[i]);
    add_judgements(row, data, shown(*settings[i]));
  }
  return figure;
}

}  // namespace narrowcast
