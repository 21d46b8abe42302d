#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "codec/codec.hpp"
#include "plan/parts/keys.hpp"
#include "plan/plan.hpp"
#include "plan/toml.hpp"
#include "plan/values.hpp"

namespace narrowcast {
namespace {

// With a range of exponents that is fixed, and that a power of two moves values into.
constexpr std::array<std::string_view, 3> kScalable{"float", "e4m3", "e5m2"};

constexpr std::array<std::string_view, 5> kRuleKeys{"tensors", "codec", "scaling", "feedback",
                                                    "schedule"};
constexpr std::array<std::string_view, 5> kChangeKeys{"epoch", "step", "codec", "scaling",
                                                      "feedback"};
constexpr std::array<std::string_view, 2> kWayKeys{"codec", "scaling"};

using Keys = std::span<const std::string_view>;

// A table and what it is called in messages.
class Reader {
 public:
  Reader(const TomlTree& table, std::string_view what, std::string_view origin)
      : table_(table), what_(what), origin_(origin) {}

  void expect(Keys known) const {
    if (table_.kind != TomlKind::table) refuse(table_, fmt::format("{} is a table", what_));
    for (std::size_t i = 0; i < table_.keys.size(); ++i)
      if (std::ranges::find(known, table_.keys[i]) == known.end())
        refuse(table_.items[i], fmt::format("unknown key '{}' of {}; {}", table_.keys[i], what_,
                                            instead_of(table_.keys[i], known)));
  }

  const TomlTree* find(std::string_view key) const {
    const auto at = std::ranges::find(table_.keys, key);
    return at == table_.keys.end() ? nullptr : &table_.items[at - table_.keys.begin()];
  }

  const std::string* text(std::string_view key) const {
    const TomlTree* found = find(key);
    if (found != nullptr && found->kind != TomlKind::scalar)
      refuse(*found, fmt::format("{} is one value", key));
    return found == nullptr ? nullptr : &found->text;
  }

  const std::string& needed(std::string_view key) const {
    const std::string* found = text(key);
    if (found == nullptr || found->empty()) refuse(table_, fmt::format("{} needs {}", what_, key));
    return *found;
  }

  [[noreturn]] void refuse(const TomlTree& where, std::string_view why) const {
    throw unfit(place(origin_, where), why);
  }
  [[noreturn]] void unfit_value(std::string_view key, std::string_view fits) const {
    refuse(*find(key), fmt::format("{} is {}, not '{}'", key, fits, *text(key)));
  }

  const TomlTree& table() const { return table_; }
  std::string_view origin() const { return origin_; }

 private:
  const TomlTree& table_;
  std::string_view what_;
  std::string_view origin_;
};

// What the table says, and for the rest what holds already.
Way read_way(const Reader& reader, Way way) {
  if (const std::string* codec = reader.text("codec")) way.codec = *codec;
  if (const std::string* text = reader.text("scaling")) {
    const std::optional<Scaling> scaling = scaling_of(*text);
    if (!scaling) reader.unfit_value("scaling", "one of none, aps, aps-tight");
    way.scaling = *scaling;
  }
  if (const std::string* text = reader.text("feedback")) {
    const std::optional<bool> feedback = truth_of(*text);
    if (!feedback) reader.unfit_value("feedback", "true or false");
    way.feedback = *feedback ? Feedback::on : Feedback::off;
  }
  const TomlTree* codec = reader.find("codec");
  check_way(way, place(reader.origin(), codec == nullptr ? reader.table() : *codec));
  return way;
}

struct When {
  Unit unit;
  std::uint64_t from;
};

When read_when(const Reader& reader) {
  const std::string* step = reader.text("step");
  const std::string* epoch = reader.text("epoch");
  if ((step == nullptr) == (epoch == nullptr))
    reader.refuse(reader.table(), "a change of a schedule needs either epoch or step");
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  const std::optional<std::uint64_t> from = whole_of(step == nullptr ? *epoch : *step);
  if (!from || *from > kMost)
    reader.unfit_value(step == nullptr ? "epoch" : "step", "a whole number");
  return {step == nullptr ? Unit::epoch : Unit::step, *from};
}

void read_schedule(Rule& rule, const TomlTree& changes, std::string_view origin) {
  for (const TomlTree& item : changes.items) {
    const Reader reader(item, "a change of a schedule", origin);
    reader.expect(kChangeKeys);
    const When when = read_when(reader);
    if (!rule.schedule.empty() && when.unit != rule.unit)
      reader.refuse(item, "all changes of a rule go by epoch, or all by step");
    if (!rule.schedule.empty() && when.from <= rule.schedule.back().from)
      reader.refuse(item, fmt::format("changes of a schedule ascend: {} comes after {}", when.from,
                                      rule.schedule.back().from));
    rule.unit = when.unit;
    rule.schedule.push_back({when.from, read_way(reader, rule.way)});
  }
}

Rule read_rule(const TomlTree& table, std::string_view origin) {
  const Reader reader(table, "a rule", origin);
  reader.expect(kRuleKeys);
  Rule rule{.pattern = reader.needed("tensors"), .way = {}};
  if (!is_utf8(rule.pattern)) reader.unfit_value("tensors", "a pattern in UTF-8");
  reader.needed("codec");
  rule.way = read_way(reader, {});
  if (const TomlTree* changes = reader.find("schedule")) {
    if (changes->kind != TomlKind::array) reader.refuse(*changes, "schedule is a list of tables");
    read_schedule(rule, *changes, origin);
  }
  return rule;
}

Way read_link(const TomlTree& table, std::string_view name, std::string_view origin) {
  // A codec alone, for short.
  const bool alone = table.kind == TomlKind::scalar;
  const TomlTree whole{.keys = {"codec"}, .items = {table}, .line = table.line};
  const Reader reader(alone ? whole : table, name, origin);
  reader.expect(kWayKeys);
  reader.needed("codec");
  return read_way(reader, {});
}

std::vector<Rule> read_rules(const TomlTree& list, std::string_view origin) {
  if (list.kind != TomlKind::array)
    throw unfit(place(origin, list), "rule is a list of tables, each of them [[rule]]");
  std::vector<Rule> rules;
  for (const TomlTree& item : list.items) rules.push_back(read_rule(item, origin));
  return rules;
}

std::vector<std::string_view> all_keys() {
  std::vector<std::string_view> keys{"rule", "activations", "errors"};
  std::ranges::copy(plan_keys(), std::back_inserter(keys));
  return keys;
}

}  // namespace

std::optional<Scaling> scaling_of(std::string_view name) { return value_of(kScalings, name); }

void check_way(const Way& way, std::string_view origin) {
  try {
    // Tensors bring their own shape; any will do here.
    make_codec(way.codec, {.innermost = 64});
  } catch (const Error& error) {
    throw unfit(origin, error.what());
  }
  const std::string_view name = std::string_view(way.codec).substr(0, way.codec.find(':'));
  if (way.scaling != Scaling::none && std::ranges::find(kScalable, name) == kScalable.end())
    throw unfit(origin, fmt::format("scaling {} is for float, e4m3 and e5m2, not for {}",
                                    name_of(kScalings, way.scaling), name));
}

void read_into(Plan& plan, const TomlTree& table, std::string_view origin) {
  const Reader reader(table, "a plan", origin);
  check_version(table, "a plan", origin);
  reader.expect(all_keys());
  for (std::size_t i = 0; i < table.keys.size(); ++i) {
    const std::string& key = table.keys[i];
    const TomlTree& item = table.items[i];
    if (key == "rule")
      plan.rules = read_rules(item, origin);
    else if (key == "activations")
      plan.activations = read_link(item, key, origin);
    else if (key == "errors")
      plan.errors = read_link(item, key, origin);
    else
      set_key(plan, key, *reader.text(key), place(origin, item));
  }
}

Plan parse_plan(std::string_view toml, std::string_view origin) {
  Plan plan;
  read_into(plan, parse_toml(toml, origin), origin);
  return plan;
}

Plan read_plan(const std::filesystem::path& file) {
  return parse_plan(read_text(file), file.string());
}

}  // namespace narrowcast
