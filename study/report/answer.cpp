// The answer: does low precision improve end-to-end time with no accuracy loss, where, and by how much?
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "study/analysis/grouping.hpp"
#include "study/report/rows.hpp"
#include "study/report/settings.hpp"

namespace narrowcast {
namespace {

// Longer tables are closed at first.
constexpr std::size_t kCompact = 24;

std::string times(double gain) { return fmt::format("{:.{}f} times", gain, gain < 9.995 ? 2 : 0); }

// "all 4 measured settings", "3 of 4 measured settings", "the only measured setting".
std::string settings_text(std::size_t count, std::size_t all, Source source) {
  const std::string what = source_label(source) + (all == 1 ? " setting" : " settings");
  if (all == 1) return "the only " + what;
  if (all == 2 && count == 2) return "both " + what;
  return count == all ? fmt::format("all {} {}", all, what)
                      : fmt::format("{} of {} {}", count, all, what);
}

std::string gains(const Tally& tally, const std::string& baseline) {
  if (!tally.median_gain || !tally.largest_gain) return "less time than " + baseline;
  if (tally.yes == 1)
    return fmt::format("steps {} as quick as {}", times(*tally.largest_gain), baseline);
  return fmt::format("steps {} as quick as {} in the median and {} at most",
                     times(*tally.median_gain), baseline, times(*tally.largest_gain));
}

// Some codec, whatever it does to the error.
bool is_quicker(const StudySetting& setting) {
  return std::ranges::any_of(setting.choices, [](const Choice& choice) {
    return choice.gain.judgement == Judgement::better;
  });
}

// Predictions say nothing of errors; of some codecs they were measured.
std::string predicted_verdict(const StudyAnswer& answer, const std::string& baseline) {
  const Tally& tally = answer.predicted;
  const auto quicker = static_cast<std::size_t>(
      std::ranges::count_if(answer.settings, [](const StudySetting& setting) {
        return setting.source == Source::predicted && is_quicker(setting);
      }));
  if (quicker == 0)
    return fmt::format("In {} no codec would be quicker than {} by more than predictions are off.",
                       settings_text(tally.settings, tally.settings, Source::predicted), baseline);
  std::string error = "what it does to the error is not predicted";
  if (tally.yes > 0 && tally.yes < quicker)
    error = fmt::format("in {} of them with an error that was measured to be no worse", tally.yes);
  else if (tally.yes > 0)
    error = "with an error that was measured to be no worse";
  else if (tally.if_accurate == 0)
    error = "with an error that was measured to be worse";
  return fmt::format(
      "In {} some codec would be quicker than {} by more than predictions are off; {}.",
      settings_text(quicker, tally.settings, Source::predicted), baseline, error);
}

std::string measured_verdict(const Tally& tally, const std::string& baseline) {
  constexpr Source kSource = Source::measured;
  if (tally.yes > 0)
    return fmt::format("Yes in {}: a test error that is no worse, and {}.",
                       settings_text(tally.yes, tally.settings, kSource), gains(tally, baseline));
  if (tally.if_accurate > 0)
    return fmt::format(
        "Quicker, yes: in {} some codec takes less time than {}. That it loses no accuracy there "
        "is not "
        "shown yet.",
        settings_text(tally.if_accurate, tally.settings, kSource), baseline);
  if (tally.no > 0)
    return fmt::format("No in {}: no codec is both quicker than {} and as accurate{}.",
                       settings_text(tally.no, tally.settings, kSource), baseline,
                       tally.no < tally.settings ? "; the others are not clear yet" : "");
  if (tally.unclear > 0)
    return fmt::format(
        "Not clear: in {} codecs were compared with {}, but none was found to be quicker, and for "
        "some that is not ruled out either.",
        settings_text(tally.unclear, tally.settings, kSource), baseline);
  return fmt::format("Too early to say: {} {} too few quiet runs to compare.",
                     settings_text(tally.settings, tally.settings, kSource),
                     tally.settings == 1 ? "has" : "have");
}

std::string verdict(const StudyAnswer& answer, Source source, const std::string& baseline) {
  return source == Source::measured ? measured_verdict(answer.measured, baseline)
                                    : predicted_verdict(answer, baseline);
}

std::string wins(const Tally& tally) {
  std::string text;
  for (const Wins& each : tally.wins)
    text += fmt::format("{}{} ({})", text.empty() ? "Quickest of those that lose nothing: " : ", ",
                        each.codec, each.settings);
  return text.empty() ? text : text + ".";
}

// What became of all settings, where the first sentence counts only some.
std::string rest(const Tally& tally) {
  std::vector<std::string> parts;
  const auto add = [&](std::size_t count, std::string_view what) {
    if (count > 0) parts.push_back(fmt::format("{} {}", count, what));
  };
  add(tally.yes, "quicker and no worse");
  add(tally.if_accurate, "quicker, but the error not shown to be the same");
  add(tally.no, "not quicker, or less accurate");
  add(tally.unclear, "quicker or not, unclear");
  add(tally.unknown, "with too few quiet runs to compare");
  if (parts.size() < 2) return {};
  return fmt::format("Of {} settings: {}.", tally.settings, fmt::join(parts, "; "));
}

// Of settings of one value of an axis.
struct Place {
  std::size_t quicker = 0;
  std::size_t undecided = 0;
  std::size_t all = 0;
};

std::string text_of(const Place& place) {
  const std::string open =
      place.undecided > 0 ? fmt::format(", {} undecided", place.undecided) : "";
  return fmt::format("{} of {}{}", place.quicker, place.all, open);
}

// By each value of an axis: in how many of its settings some codec is quicker, of all that there are.
std::string where(const StudyAnswer& answer, Source source, std::string_view axis) {
  std::map<std::string, Place> counts;
  std::vector<std::string> order;
  for (const StudySetting& setting : answer.settings) {
    const auto value = setting.axes.find(axis);
    if (setting.source != source || value == setting.axes.end()) continue;
    const bool is_link = axis == "link" && !value->second.empty() && value->second != "none";
    const std::string name = is_link ? value->second : axis_value(axis, value->second);
    if (!counts.contains(name)) order.push_back(name);
    Place& place = counts[name];
    ++place.all;
    place.quicker += is_quicker(setting);
    place.undecided += !is_quicker(setting) && setting.pays != Pays::no;
  }
  if (order.size() < 2) return {};
  std::string text;
  for (const std::string& name : order)
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", name, text_of(counts[name]));
  return fmt::format("Quicker, by {}: {}.", axis_name(axis), text);
}

std::string machines(const StudyAnswer& answer) {
  std::set<std::string> names;
  for (const StudySetting& setting : answer.settings)
    if (const auto machine = setting.axes.find("machine"); machine != setting.axes.end())
      names.insert(machine->second);
  if (names.size() < 2) return {};
  return fmt::format("Times are of {} kinds of machine ({}); each is compared with its own only.",
                     names.size(), fmt::join(names, "; "));
}

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
                .caption = fmt::format(
                    "The quickest codec of those that decide a setting; gain is how "
                    "many times as quick as {} a step is, with {}. {}",
                    data.study.baseline, measured ? "its 95 % interval" : "the prediction's bounds",
                    columns.common()),
                .showing = settings.size() > kCompact ? Showing::folded : Showing::open};
  // What people look for first is what a phone shows.
  figure.table.columns.push_back(verdict_column("pays"));
  add_estimate(figure.table.columns, number_column("gain", "times", 2));
  figure.table.columns.push_back(text_column("codec"));
  columns.add_to(figure.table);
  figure.table.columns.push_back(verdict_column("time"));
  figure.table.columns.push_back(verdict_column("error"));
  for (std::size_t i = 0; i < settings.size(); ++i) {
    Row& row = figure.table.rows.emplace_back();
    row.emplace_back(std::string(name_of(settings[i]->pays)));
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
      Text{verdict(answer, source, data.study.baseline), leads ? TextRole::lead : TextRole::plain});
  Bullets more;
  const auto add = [&](const std::string& text) {
    if (!text.empty()) more.items.push_back(text);
  };
  if (measured) add(rest(tally));
  add(wins(tally));
  for (const std::string_view axis : {"net", measured ? "link" : "profile", "workers", "parallel"})
    add(where(answer, source, axis));
  if (measured) add(machines(answer));
  if (!more.items.empty()) blocks.emplace_back(more);
}

std::vector<Block> blocks(const ReportData& data) {
  const StudyAnswer& answer = data.analysis.answer;
  std::vector<Block> all;
  const bool has_baseline = std::ranges::any_of(data.analysis.groups, [&](const CellGroup& group) {
    return group.at("codec") == data.study.baseline && !group.done.empty();
  });
  if (answer.settings.empty() || !has_baseline)
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
