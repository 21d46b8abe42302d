#include "study/report/settings.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace narrowcast {
namespace {

// In the order in which people name them; others follow.
struct AxisWord {
  std::string_view axis;
  std::string_view name;
  std::string_view phrase;  // {} is the value
};
constexpr std::array kWords{AxisWord{"net", "network", "{}"},
                            AxisWord{"data", "data", "{}"},
                            AxisWord{"parallel", "parallel", "{} parallel"},
                            AxisWord{"workers", "workers", "{} workers"},
                            AxisWord{"profile", "machines", "{}"},
                            AxisWord{"transport", "transport", "{}"},
                            AxisWord{"link", "link", "link {}"},
                            AxisWord{"batch", "batch", "batch {}"},
                            AxisWord{"ranks", "ranks", "{} ranks"},
                            AxisWord{"size", "size", "{} bytes"},
                            AxisWord{"model", "model", "{}"},
                            AxisWord{"machine", "machine", "on {}"}};
constexpr std::array<std::string_view, 3> kNoSetting{"codec", "plan", "seed"};

std::string_view at(const Axes& axes, std::string_view axis) {
  const auto found = axes.find(axis);
  return found == axes.end() ? std::string_view() : std::string_view(found->second);
}

std::vector<std::string> ordered(const std::set<std::string>& axes) {
  std::vector<std::string> all;
  for (const AxisWord& word : kWords)
    if (axes.contains(std::string(word.axis))) all.emplace_back(word.axis);
  for (const std::string& axis : axes)
    if (std::ranges::find(all, axis) == all.end()) all.push_back(axis);
  return all;
}

bool is_setting(const Cell& cell, std::string_view axis) {
  const bool of_profile = axis == "transport" || axis == "link";
  const std::string_view profile = cell.at("profile");
  if (of_profile && !profile.empty() && profile != "here") return false;
  return std::ranges::find(kNoSetting, axis) == kNoSetting.end();
}

// Settings in which cells differ although their axes do not.
std::set<std::string> telling_settings(std::span<const Cell* const> cells) {
  std::set<std::string> telling;
  std::map<std::pair<std::string, Axes>, const Cell*> seen;
  for (const Cell* cell : cells) {
    Axes axes = cell->axes;
    axes.erase("seed");
    const auto [place, is_new] = seen.try_emplace({cell->kind, axes}, cell);
    if (is_new) continue;
    for (const Cell* one : {cell, place->second})
      for (const auto& [key, value] : one->settings)
        if (!cell->settings.contains(key) || !place->second->settings.contains(key) ||
            cell->settings.at(key) != place->second->settings.at(key))
          telling.insert(key);
  }
  return telling;
}

}  // namespace

std::string axis_name(std::string_view axis) {
  const auto word = std::ranges::find(kWords, axis, &AxisWord::axis);
  return std::string(word == kWords.end() ? axis : word->name);
}

std::string axis_value(std::string_view axis, std::string_view value) {
  if (axis == "link" && (value == "none" || value.empty())) return "no limit";
  if (axis == "workers" && value == "1") return "1 worker";
  const auto word = std::ranges::find(kWords, axis, &AxisWord::axis);
  if (word == kWords.end()) return fmt::format("{} {}", axis, value);
  return fmt::format(fmt::runtime(word->phrase), value);
}

std::vector<Axes> settings_of(std::span<const Cell* const> cells) {
  const std::set<std::string> telling = telling_settings(cells);
  std::vector<Axes> all;
  for (const Cell* cell : cells) {
    Axes& axes = all.emplace_back();
    for (const auto& [axis, value] : cell->axes)
      if (is_setting(*cell, axis)) axes.emplace(axis, value);
    for (const std::string& key : telling)
      if (const auto found = cell->settings.find(key); found != cell->settings.end())
        axes.emplace(key, found->second);
  }
  return all;
}

SettingColumns::SettingColumns(std::span<const Axes> settings, std::string_view without) {
  std::set<std::string> axes;
  for (const Axes& setting : settings)
    for (const auto& [axis, value] : setting)
      if (axis != without) axes.insert(axis);
  for (const std::string& axis : ordered(axes)) {
    const std::string_view first = at(settings.front(), axis);
    bool same = true;
    bool numbers = true;
    for (const Axes& setting : settings) {
      same = same && at(setting, axis) == first;
      numbers = numbers && (at(setting, axis).empty() ||
                            std::holds_alternative<double>(number_value(at(setting, axis))));
    }
    if (same)
      common_.emplace(axis, first);
    else
      varying_.push_back({axis, numbers});
  }
}

void SettingColumns::add_to(Table& table) const {
  for (const Varying& each : varying_) {
    table.columns.push_back(each.numbers ? number_column(axis_name(each.axis))
                                         : text_column(axis_name(each.axis)));
    table.columns.back().is_key = true;
  }
  for (const auto& [axis, value] : common_)
    if (!value.empty())
      table.constants.push_back({axis_name(axis), value == "none" ? "no limit" : value});
}

void SettingColumns::add_to(Row& row, const Axes& setting) const {
  for (const Varying& each : varying_) {
    const std::string_view value = at(setting, each.axis);
    if (each.numbers)
      row.push_back(number_value(value));
    else if (each.axis == "link" && setting.contains("link"))
      row.emplace_back(value == "none" || value.empty() ? std::string("no limit")
                                                        : std::string(value));
    else
      row.emplace_back(std::string(value));
  }
}

std::vector<std::string> SettingColumns::names() const {
  std::vector<std::string> all;
  for (const Varying& each : varying_) all.push_back(axis_name(each.axis));
  return all;
}

std::string SettingColumns::common() const {
  std::string text;
  std::set<std::string> axes;
  for (const auto& [axis, value] : common_)
    if (!value.empty() && value != "none") axes.insert(axis);
  for (const std::string& axis : ordered(axes))
    text += (text.empty() ? "All: " : ", ") + axis_value(axis, common_.at(axis));
  return text.empty() ? text : text + ".";
}

}  // namespace narrowcast
