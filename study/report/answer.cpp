// The answer: does low precision improve end-to-end time with no accuracy loss, where, and by how much?
#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "study/report/rows.hpp"
#include "study/report/settings.hpp"

namespace narrowcast {
namespace {

// Longer tables are closed at first.
constexpr std::size_t kCompact = 24;

std::string_view word_of(Pays pays) {
  return pays == Pays::unknown ? "too little data" : name_of(pays);
}

std::string times(double gain) { return fmt::format("{:.2g} times", gain); }

std::string settings_text(std::size_t count, std::size_t all, Source source) {
  const std::string what = fmt::format("{} setting{}", source_label(source), all == 1 ? "" : "s");
  if (all == 1) return count == 1 ? "the only " + what : "the one " + what;
  return count == all ? fmt::format("all {} {}", all, what)
                      : fmt::format("{} of {} {}", count, all, what);
}

std::string gains(const Tally& tally, const std::string& baseline) {
  if (!tally.median_gain || !tally.largest_gain) return ".";
  if (tally.yes == 1)
    return fmt::format(", {} as quick as {}.", times(*tally.largest_gain), baseline);
  return fmt::format(", {} as quick as {} in the median and {} at most.", times(*tally.median_gain),
                     baseline, times(*tally.largest_gain));
}

std::string verdict(const Tally& tally, Source source, const std::string& baseline) {
  const bool measured = source == Source::measured;
  if (tally.yes > 0)
    return fmt::format("Yes in {}: low precision {} to an error that is no worse in less time{}",
                       settings_text(tally.yes, tally.settings, source),
                       measured ? "trains" : "would train", gains(tally, baseline));
  if (tally.if_accurate > 0)
    return fmt::format(
        "Quicker in {}, where some codec {} less time than {}; that its error is the same was not "
        "shown there.",
        settings_text(tally.if_accurate, tally.settings, source), measured ? "takes" : "would take",
        baseline);
  if (tally.no > 0 && tally.unknown == 0)
    return fmt::format("No: in {} no codec is both quicker than {} and as accurate.",
                       settings_text(tally.settings, tally.settings, source), baseline);
  if (tally.no > 0)
    return fmt::format("No in {}; the data does not suffice for the others.",
                       settings_text(tally.no, tally.settings, source));
  return fmt::format("The data does not suffice to say so of {}.",
                     settings_text(tally.settings, tally.settings, source));
}

std::string wins(const Tally& tally) {
  std::string text;
  for (const Wins& each : tally.wins)
    text += fmt::format("{}{} ({})", text.empty() ? "Quickest of those that lose nothing: " : ", ",
                        each.codec, each.settings);
  return text.empty() ? text : text + ".";
}

// By each value of an axis: in how many of its settings it pays.
std::string where(const StudyAnswer& answer, Source source, std::string_view axis) {
  std::map<std::string, std::pair<std::size_t, std::size_t>> counts;
  std::vector<std::string> order;
  for (const StudySetting& setting : answer.settings) {
    const auto value = setting.axes.find(axis);
    if (setting.source != source || value == setting.axes.end()) continue;
    const std::string name =
        value->second.empty() || value->second == "none" ? "no limit" : value->second;
    if (!counts.contains(name)) order.push_back(name);
    auto& [yes, all] = counts[name];
    yes += setting.pays == Pays::yes ||
           (source == Source::predicted && setting.pays == Pays::if_accurate);
    ++all;
  }
  if (order.size() < 2) return {};
  std::string text;
  for (const std::string& name : order)
    text += fmt::format("{}{} ({} of {})", text.empty() ? "" : ", ", name, counts[name].first,
                        counts[name].second);
  return fmt::format("{} by {}: {}.",
                     source == Source::measured ? "Settings in which it pays"
                                                : "Settings in which it would be quicker",
                     axis_name(axis), text);
}

// The choice that a setting's row shows: the best, or else the quickest.
const Choice* shown(const StudySetting& setting) {
  if (setting.best) return &setting.choices[*setting.best];
  const auto quickest = std::ranges::max_element(
      setting.choices, {}, [](const Choice& choice) { return choice.gain.effect.mean; });
  return quickest == setting.choices.end() ? nullptr : &*quickest;
}

// A setting has no settings of cells: where two have equal axes, their cells tell them apart.
Cell cell_of(const ReportData& data, const StudySetting& setting) {
  Cell cell{.kind = source_label(setting.source), .axes = setting.axes};
  if (!setting.choices.empty())
    for (const auto& [key, value] : data.group(setting.choices.front().timing).cell.settings)
      if (key != "codec") cell.settings.emplace(key, value);
  return cell;
}

Figure settings_figure(const ReportData& data, Source source) {
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
                .caption = fmt::format("The best codec of each setting; gain is how many times as "
                                       "quick as {} a step is, with its "
                                       "95 % interval. {}",
                                       data.study.baseline, columns.common()),
                .showing = settings.size() > kCompact ? Showing::folded : Showing::open};
  // What people look for first is what a phone shows.
  figure.table.columns.push_back(verdict_column("pays"));
  add_estimate(figure.table.columns, number_column("gain", "times", 2));
  figure.table.columns.push_back(text_column("codec"));
  columns.add_to(figure.table.columns);
  figure.table.columns.push_back(verdict_column("time"));
  figure.table.columns.push_back(verdict_column("error"));
  for (std::size_t i = 0; i < settings.size(); ++i) {
    Row& row = figure.table.rows.emplace_back();
    row.emplace_back(std::string(word_of(settings[i]->pays)));
    const Choice* choice = shown(*settings[i]);
    add_estimate(row, choice == nullptr ? Estimate{} : choice->gain.effect);
    row.emplace_back(choice == nullptr ? std::string()
                                       : variant_of(data.group(choice->timing).cell));
    columns.add_to(row, axes[i]);
    row.emplace_back(std::string(choice == nullptr ? "" : speed_word(choice->gain)));
    row.emplace_back(std::string(choice == nullptr  ? ""
                                 : choice->accuracy ? error_word(*choice->accuracy)
                                                    : "not measured"));
  }
  return figure;
}

void add_source(std::vector<Block>& blocks, const ReportData& data, Source source) {
  const StudyAnswer& answer = data.analysis.answer;
  const bool measured = source == Source::measured;
  const Tally& tally = measured ? answer.measured : answer.predicted;
  if (tally.settings == 0) return;
  // Without measurements the prediction is the answer.
  const bool leads = measured || answer.measured.settings == 0;
  blocks.emplace_back(
      Text{verdict(tally, source, data.study.baseline), leads ? TextRole::lead : TextRole::plain});
  std::string more = wins(tally);
  for (const std::string_view axis : {"net", measured ? "link" : "profile"})
    if (const std::string text = where(answer, source, axis); !text.empty())
      more += (more.empty() ? "" : " ") + text;
  if (!more.empty()) blocks.emplace_back(Text{more});
}

std::vector<Block> blocks(const ReportData& data) {
  const StudyAnswer& answer = data.analysis.answer;
  std::vector<Block> all;
  if (answer.settings.empty())
    return {Text{fmt::format("There is nothing to compare with {} yet.", data.study.baseline),
                 TextRole::lead}};
  add_source(all, data, Source::measured);
  add_source(all, data, Source::predicted);
  if (answer.measured.settings > 0) all.emplace_back(settings_figure(data, Source::measured));
  if (answer.predicted.settings > 0) all.emplace_back(settings_figure(data, Source::predicted));
  return all;
}

}  // namespace

ReportSection answer_section() {
  return {"answer", "Does low precision improve end-to-end time with no accuracy loss?", blocks};
}

}  // namespace narrowcast
