// The answer: does low precision improve end-to-end time with no accuracy loss, where, and by how much?
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "study/report/answer_table.hpp"
#include "study/report/rows.hpp"
#include "study/report/settings.hpp"

namespace narrowcast {
namespace {

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
std::string errors_of_quicker(const Tally& tally, std::size_t quicker,
                              const std::string& baseline) {
  std::vector<std::string> parts;
  if (tally.yes > 0)
    parts.push_back(
        tally.yes < quicker
            ? fmt::format("in {} of them with an error that was measured to be no worse", tally.yes)
            : "with an error that was measured to be no worse");
  else if (tally.if_accurate > 0)
    parts.emplace_back("what it does to the error is not predicted");
  else if (tally.later == 0)
    parts.emplace_back("with an error that was measured to be worse");
  if (tally.later > 0)
    parts.push_back(
        fmt::format("runs were measured to reach {}'s error later, or never, in {} of them",
                    baseline, tally.later));
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string predicted_verdict(const StudyAnswer& answer, const std::string& baseline) {
  const Tally& tally = answer.predicted;
  const auto quicker = static_cast<std::size_t>(
      std::ranges::count_if(answer.settings, [](const StudySetting& setting) {
        return setting.source == Source::predicted && is_quicker(setting);
      }));
  if (quicker == 0)
    return fmt::format("In {} no codec would be quicker than {} by more than predictions are off.",
                       settings_text(tally.settings, tally.settings, Source::predicted), baseline);
  return fmt::format(
      "In {} some codec would be quicker than {} by more than predictions are off; {}.",
      settings_text(quicker, tally.settings, Source::predicted), baseline,
      errors_of_quicker(tally, quicker, baseline));
}

std::string later(const std::string& baseline) {
  return fmt::format("reaches {}'s error later, or never", baseline);
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
  if (const std::size_t no = tally.no + tally.later; no > 0)
    return fmt::format("No in {}: no codec is both quicker than {} and as accurate{}{}.",
                       settings_text(no, tally.settings, kSource), baseline,
                       tally.later > 0 ? ", but for some with which a run " + later(baseline) : "",
                       no < tally.settings ? "; the others are not clear yet" : "");
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

// "What they are: qsgd:bits=4 (3), dynamic8 (1)."
std::string listed(const std::string& what, std::span<const Wins> codecs) {
  std::vector<std::string> names;
  for (const Wins& each : codecs)
    names.push_back(fmt::format("{} ({})", each.codec, each.settings));
  return names.empty() ? std::string() : fmt::format("{}: {}.", what, fmt::join(names, ", "));
}

// What became of all settings, where the first sentence counts only some.
std::string rest(const Tally& tally, const std::string& baseline) {
  std::vector<std::string> parts;
  const auto add = [&](std::size_t count, std::string_view what) {
    if (count > 0) parts.push_back(fmt::format("{} {}", count, what));
  };
  add(tally.yes, "quicker and no worse");
  add(tally.if_accurate, "quicker, but the error not shown to be the same");
  add(tally.later, "quicker, but a run " + later(baseline));
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
  if (measured) add(rest(tally, data.study.baseline));
  add(listed("Quickest of those that lose nothing", tally.wins));
  add(listed(fmt::format("Steps are not quicker, but a run reaches {}'s error sooner all the same",
                         data.study.baseline),
             tally.sooner));
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
  if (answer.measured.settings > 0) all.emplace_back(answer_table(data, Source::measured));
  if (answer.predicted.settings > 0) all.emplace_back(answer_table(data, Source::predicted));
  return all;
}

}  // namespace

ReportSection answer_section() {
  return {"answer", "Does low precision improve end-to-end time with no accuracy loss?", blocks};
}

}  // namespace narrowcast
