#include "plan/parts/keys.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "plan/plan.hpp"
#include "plan/toml.hpp"
#include "plan/values.hpp"

namespace narrowcast {
namespace {

using std::chrono::milliseconds;

// Those of collective/, which this room does not see; a test in tests/exchange compares the two.
constexpr std::array kAlgorithms{
    Named<std::string_view>{"direct", "direct"}, Named<std::string_view>{"ring", "ring"},
    Named<std::string_view>{"hierarchy", "hierarchy"}, Named<std::string_view>{"gather", "gather"},
    Named<std::string_view>{"auto", "auto"}};

constexpr std::array kTotals{Named<Total>{"sum", Total::sum},
                             Named<Total>{"average", Total::average}};

constexpr std::array kPolicies{Named<NonFinitePolicy>{"propagate", NonFinitePolicy::propagate},
                               Named<NonFinitePolicy>{"skip-step", NonFinitePolicy::skip_step},
                               Named<NonFinitePolicy>{"fail", NonFinitePolicy::fail}};

constexpr std::uint64_t kMostWhole = std::numeric_limits<std::int64_t>::max();
constexpr double kLongestDeadline = 1e9;  // seconds: no clock overflows

// Of bytes, longest ending first.
constexpr std::array kSizes{Named<int>{"GiB", 30}, Named<int>{"MiB", 20}, Named<int>{"KiB", 10},
                            Named<int>{"G", 30},   Named<int>{"M", 20},   Named<int>{"K", 10}};

constexpr std::array kDurations{Named<double>{"ms", 1e-3}, Named<double>{"s", 1.0},
                                Named<double>{"min", 60.0}};

template <class Number>
bool set_whole(Number& target, std::string_view text) {
  constexpr auto kMost =
      std::min(kMostWhole, static_cast<std::uint64_t>(std::numeric_limits<Number>::max()));
  const std::optional<std::uint64_t> value = whole_of(text);
  if (!value || *value > kMost) return false;
  target = static_cast<Number>(*value);
  return true;
}

template <class Value, std::size_t n>
bool set_named(auto& target, const std::array<Named<Value>, n>& all, std::string_view text) {
  const std::optional<Value> value = value_of(all, text);
  if (!value) return false;
  target = *value;
  return true;
}

bool set_size(std::size_t& target, std::string_view text) {
  int shift = 0;
  for (const Named<int>& size : kSizes)
    if (shift == 0 && text.ends_with(size.name)) {
      shift = size.value;
      text.remove_suffix(size.name.size());
    }
  const std::optional<std::uint64_t> value = whole_of(text);
  if (!value || *value > kMostWhole >> shift) return false;
  target = *value << shift;
  return true;
}

std::string size_text(std::size_t bytes) {
  constexpr std::size_t kMebi = std::size_t{1} << 20;
  if (bytes == 0 || bytes % kMebi != 0) return text_of(std::uint64_t{bytes});
  return fmt::format("\"{}MiB\"", bytes / kMebi);
}

bool set_deadline(milliseconds& target, std::string_view text) {
  double unit = 1;
  for (const Named<double>& duration : kDurations)
    if (text.ends_with(duration.name)) {
      unit = duration.value;
      text.remove_suffix(duration.name.size());
      break;
    }
  const std::optional<double> value = real_of(text);
  if (!value || !(*value > 0 && *value * unit <= kLongestDeadline)) return false;
  const milliseconds rounded(std::llround(*value * unit * 1000));
  if (rounded < milliseconds(1)) return false;
  target = rounded;
  return true;
}

std::string deadline_text(milliseconds time) {
  if (time.count() % 1000 != 0) return fmt::format("\"{}ms\"", time.count());
  return fmt::format("\"{}s\"", time.count() / 1000);
}

constexpr std::array kRows{
    PlanKey{kVersionKey, "1, the version of plans that is read here",
            [](Plan&, std::string_view text) { return text == kTomlVersion; },
            [](const Plan&) { return std::string(kTomlVersion); }},
    PlanKey{"min_elements", "a whole number",
            [](Plan& plan, std::string_view text) { return set_whole(plan.min_elements, text); },
            [](const Plan& plan) { return text_of(std::uint64_t{plan.min_elements}); }},
    PlanKey{"algorithm", "one of direct, ring, hierarchy, gather, auto",
            [](Plan& plan, std::string_view text) {
              return set_named(plan.algorithm, kAlgorithms, text);
            },
            [](const Plan& plan) { return in_quotes(plan.algorithm); }},
    PlanKey{"group", "a whole number of ranks, 0 for all",
            [](Plan& plan, std::string_view text) { return set_whole(plan.group, text); },
            [](const Plan& plan) { return std::to_string(plan.group); }},
    PlanKey{"fusion", "a number of bytes, or one with K, M, G, KiB, MiB or GiB as in \"4MiB\"",
            [](Plan& plan, std::string_view text) { return set_size(plan.fusion_bytes, text); },
            [](const Plan& plan) { return size_text(plan.fusion_bytes); }},
    PlanKey{"total", "one of sum, average",
            [](Plan& plan, std::string_view text) { return set_named(plan.total, kTotals, text); },
            [](const Plan& plan) { return in_quotes(name_of(kTotals, plan.total)); }},
    PlanKey{"non_finite", "one of propagate, skip-step, fail",
            [](Plan& plan, std::string_view text) {
              return set_named(plan.non_finite, kPolicies, text);
            },
            [](const Plan& plan) { return in_quotes(name_of(kPolicies, plan.non_finite)); }},
    PlanKey{"deadline", "a number of seconds, or one with ms, s or min as in \"300s\"",
            [](Plan& plan, std::string_view text) { return set_deadline(plan.deadline, text); },
            [](const Plan& plan) { return deadline_text(plan.deadline); }},
    PlanKey{"key_file", "the name of a file, in UTF-8",
            [](Plan& plan, std::string_view text) {
              if (!is_utf8(text)) return false;
              plan.key_file = text;
              return true;
            },
            [](const Plan& plan) { return in_quotes(plan.key_file); }},
};

constexpr auto kNames = [] {
  std::array<std::string_view, kRows.size()> names{};
  std::ranges::transform(kRows, names.begin(), &PlanKey::name);
  return names;
}();

}  // namespace

std::span<const PlanKey> plan_key_rows() { return kRows; }

std::span<const std::string_view> plan_keys() { return kNames; }

void set_key(Plan& plan, std::string_view key, std::string_view value, std::string_view origin) {
  const auto row = std::ranges::find(kRows, key, &PlanKey::name);
  if (row == kRows.end())
    throw unfit(origin, fmt::format("unknown key '{}'; {}", key, instead_of(key, kNames)));
  if (!row->set(plan, value))
    throw unfit(origin, fmt::format("{} is {}, not '{}'", key, row->fits, value));
}

}  // namespace narrowcast
