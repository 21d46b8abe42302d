#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "base/error.hpp"
#include "plan/counts.hpp"
#include "plan/toml.hpp"
#include "plan/values.hpp"
#include "run/run.hpp"
#include "study/kinds/kind.hpp"
#include "study/kinds/words.hpp"
#include "study/named.hpp"
#include "study/study.hpp"
#include "study/toml_reader.hpp"

namespace narrowcast {
namespace {

using Table = std::map<std::string, std::string>;
constexpr std::size_t kMostCells = 100'000;

// The same number is the same value, however it is written: 01 is the seed 1, and 65536 bytes are 64K. What is no such
// number is left to the check of its kind.
std::string plain_value(std::string_view axis, const std::string& value) {
  constexpr std::array<std::string_view, 4> kWhole{"workers", "batch", "ranks", "seed"};
  try {
    if (axis == "size") return count_text(parse_count(value));
  } catch (const Error&) {
    return value;
  }
  const bool is_whole = std::ranges::find(kWhole, axis) != kWhole.end();
  const auto number = is_whole ? whole_of(value) : std::nullopt;
  return number ? std::to_string(*number) : value;
}

class Reader : TomlReader {
 public:
  Reader(std::string_view toml, std::string_view origin, StudyUse use)
      : TomlReader(origin), root_(parse_toml(toml, origin)), use_(use) {}

  Study read() {
    check_version(root_, "a study", origin());
    constexpr std::array<std::string_view, 11> kKeys{kVersionKey, "name",      "title", "about",
                                                     "cuts",      "baseline",  "order", "codecs",
                                                     "plans",     "tolerance", "part"};
    refuse_unknown(root_, kKeys, "a study has");
    Study study{.name = name(root_, "name").value_or("")};
    study.title = name(root_, "title").value_or("");
    study.about = text(root_, "about").value_or("");
    if (const TomlTree* cuts = find(root_, "cuts")) study.cuts = list(*cuts, "cuts");
    study.baseline = text(root_, "baseline").value_or("fp32");
    study.order = order();
    study.tolerance = tolerance();
    codecs_ = read_named(root_, "codecs", origin());
    plans_ = read_named(root_, "plans", origin());
    const TomlTree* parts = find(root_, "part");
    if (parts == nullptr || parts->kind != TomlKind::array || parts->items.empty())
      throw unfit(origin(), "a study has at least one [[part]]");
    for (const TomlTree& part : parts->items) read_part(part);
    study.cells = in_order();
    check_baseline(study);
    return study;
  }

 private:
  // Says where, for what has no place of its own.
  template <class Function>
  decltype(auto) at(const TomlTree& place_of, Function function) const {
    try {
      return function();
    } catch (const Error& error) {
      if (error.fault() != Fault::usage) throw;
      refuse(place_of, error.what());
    }
  }

  CellOrder order() const {
    const std::string word = text(root_, "order").value_or("fixed");
    if (word == "fixed") return CellOrder::fixed;
    if (word != "random") refuse(*find(root_, "order"), "order is fixed or random");
    return CellOrder::random;
  }

  double tolerance() const {
    const auto word = text(root_, "tolerance");
    if (!word) return 0;
    const auto number = real_of(*word);
    if (!number || *number < 0)
      refuse(*find(root_, "tolerance"), "tolerance is a number of percentage points from 0");
    return *number;
  }

  // The usual one may be missing: a study may have nothing to compare. One that was named may not.
  void check_baseline(const Study& study) const {
    const TomlTree* named = find(root_, "baseline");
    const auto has_it = [&](const Cell& cell) { return cell.at("codec") == study.baseline; };
    if (named != nullptr && std::ranges::none_of(study.cells, has_it))
      refuse(*named, fmt::format("no part has the codec '{}' to compare with", study.baseline));
  }

  // Keys of settings may be nested: [part.settings.optimiser] rate = 0.1.
  void flatten(const std::string& key, const TomlTree& item, Table& into) const {
    if (item.kind == TomlKind::scalar) {
      into[key] = item.text;
    } else if (item.kind == TomlKind::array) {
      std::string joined;
      for (const std::string& value : list(item, key))
        joined += (joined.empty() ? "" : ",") + value;
      into[key] = joined;
    } else {
      for (std::size_t i = 0; i < item.keys.size(); ++i)
        flatten(key.empty() ? item.keys[i] : key + "." + item.keys[i], item.items[i], into);
    }
  }

  struct Axis {
    std::string name;
    std::vector<std::string> values;
  };

  std::vector<std::string> values(const TomlTree& given, std::string_view axis) const {
    std::vector<std::string> all = names(given, axis);
    for (std::string& each : all) each = plain_value(axis, each);
    return all;
  }

  void read_part(const TomlTree& part) {
    const auto word = text(part, "kind");
    if (!word) refuse(part, "a part needs 'kind'");
    const Kind& kind = at(part, [&]() -> const Kind& { return kind_of(*word); });
    std::vector<std::string_view> known = {"kind", "settings"};
    for (const KindAxis& axis : kind.axes) known.push_back(axis.name);
    refuse_unknown(part, known, fmt::format("a part of kind {} has", kind.name));
    std::vector<Axis> axes;
    for (const KindAxis& axis : kind.axes) {
      const TomlTree* given = find(part, axis.name);
      if (given != nullptr)
        axes.push_back({std::string(axis.name), values(*given, axis.name)});
      else if (axis.usual.empty())
        refuse(part, fmt::format("a part of kind {} needs '{}'", kind.name, axis.name));
      else if (axis.usual != "-")
        axes.push_back({std::string(axis.name), {std::string(axis.usual)}});
    }
    if (kind.name == "predict") refuse_links_of_profiles(part, axes);
    Table settings;
    if (const TomlTree* given = find(part, "settings")) {
      flatten("", *given, settings);
      check_settings(kind, settings, *given);
    }
    multiply(kind, axes, settings, part);
  }

  // A profile that comes along has links of its own, and would not follow those of the part.
  void refuse_links_of_profiles(const TomlTree& part, std::span<const Axis> axes) const {
    const auto profiles = std::ranges::find(axes, "profile", &Axis::name);
    if (profiles == axes.end() || std::ranges::count(profiles->values, "here") > 0) return;
    for (const std::string_view axis : {"transport", "link"})
      if (find(part, axis) != nullptr)
        refuse(part,
               fmt::format("'{}' is for the profile 'here': the others have their own", axis));
  }

  void check_settings(const Kind& kind, const Table& settings, const TomlTree& at) const {
    for (const auto& [key, value] : settings) {
      // Except that a setting 'plan' is a file, and the axis one of [plans].
      if (key != "plan" && std::ranges::find(kind.axes, key, &KindAxis::name) != kind.axes.end())
        refuse(at, fmt::format("'{}' is an axis: it belongs beside 'kind', not in settings", key));
      const bool any = !kind.settings.empty() && kind.settings.front() == "*";
      // Of a run: its own check names what is wrong with them.
      if (any || std::ranges::find(kind.settings, key) != kind.settings.end()) continue;
      refuse(at, fmt::format("a part of kind {} has no setting '{}'; {}", kind.name, key,
                             instead_of(key, kind.settings)));
    }
  }

  // All combinations; the last axis changes fastest.
  void multiply(const Kind& kind, const std::vector<Axis>& axes, const Table& settings,
                const TomlTree& part) {
    std::size_t product = 1;
    for (const Axis& axis : axes) {
      product *= axis.values.size();
      // Before any is made: a few words can stand for more than any memory holds.
      if (cells_.size() + product > kMostCells)
        refuse(part, fmt::format("more than {} cells", kMostCells));
    }
    std::vector<std::size_t> turn(axes.size(), 0);
    for (bool more = true; more;) {
      Cell cell{.kind = std::string(kind.name), .settings = settings};
      for (std::size_t i = 0; i < axes.size(); ++i)
        cell.axes[axes[i].name] = axes[i].values[turn[i]];
      add(complete(cell, part), kind, turn, axes, part);
      std::size_t i = axes.size();
      while (i > 0 && ++turn[i - 1] == axes[i - 1].values.size()) turn[--i] = 0;
      more = i > 0;
    }
  }

  // What names of codecs and plans stand for, and the data set that goes with the network.
  Cell complete(Cell cell, const TomlTree& part) const {
    if (const std::string codec(cell.at("codec")); !codec.empty()) {
      if (const auto named = codecs_.find(codec); named != codecs_.end())
        cell.settings.insert(named->second.begin(), named->second.end());
      else
        cell.settings["codec"] = codec;
    }
    if (const std::string plan(chosen(cell, "plan")); !plan.empty()) {
      const auto named = plans_.find(plan);
      if (named == plans_.end()) refuse(part, fmt::format("there is no [plans.{}]", plan));
      cell.settings.insert(named->second.begin(), named->second.end());
      // Its rules say how tensors travel.
      if (cell.settings.contains("plan.rule")) {
        if (cell.at("codec") != "fp32")
          refuse(part, fmt::format("plan '{}' has rules: leave 'codec' out", plan));
        cell.settings.erase("codec");
      }
    }
    // A profile that comes along has links of its own; a part may have both.
    if (cell.kind == "predict" && cell.at("profile") != "here") {
      cell.axes.erase("transport");
      cell.axes.erase("link");
    }
    const bool trains = cell.kind == "train" || cell.kind == "speed";
    if (trains && cell.at("data").empty())
      cell.axes["data"] = at(part, [&] { return std::string(network_row(cell.at("net")).data); });
    return cell;
  }

  void add(Cell cell, const Kind& kind, const std::vector<std::size_t>& turn,
           const std::vector<Axis>& axes, const TomlTree& part) {
    if (use_ == StudyUse::run) at(part, [&] { kind.check(cell); });
    if (!ids_.insert(id_of(cell)).second) return;
    std::size_t round = 0;
    for (std::size_t i = 0; i < axes.size(); ++i)
      if (axes[i].name == "seed") round = turn[i];
    cells_.push_back({round, std::move(cell)});
  }

  // All cells once before any has a second seed: what is there when time runs out compares.
  std::vector<Cell> in_order() {
    std::ranges::stable_sort(cells_, {}, &Turn::round);
    std::vector<Cell> cells;
    for (Turn& each : cells_) cells.push_back(std::move(each.cell));
    return cells;
  }

  struct Turn {
    std::size_t round;
    Cell cell;
  };

  TomlTree root_;
  StudyUse use_;
  NamedSettings codecs_ = {};
  NamedSettings plans_ = {};
  std::vector<Turn> cells_ = {};
  std::set<std::string> ids_ = {};
};

}  // namespace

Study parse_study(std::string_view toml, std::string_view origin, StudyUse use) {
  return Reader(toml, origin, use).read();
}

Study read_study(const std::filesystem::path& file, StudyUse use) {
  Study study = parse_study(read_text(file), file.string(), use);
  if (study.name.empty()) study.name = file.stem().string();
  if (study.title.empty()) study.title = study.name;
  return study;
}

}  // namespace narrowcast
