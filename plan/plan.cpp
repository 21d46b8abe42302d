#include "plan/plan.hpp"

namespace narrowcast {
namespace {

bool matches(std::string_view pattern, std::string_view name) {
  std::size_t p = 0;
  std::size_t n = 0;
  // After the last star that was met, and how much of the name is tried as what it stands for. An
  // earlier star never has to be tried again: the last one can take up whatever that would shift.
  std::size_t after_star = std::string_view::npos;
  std::size_t taken = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      after_star = ++p;
      taken = n;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p;
      ++n;
    } else if (after_star != std::string_view::npos) {
      p = after_star;
      n = ++taken;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

const Way& way_at(const Rule& rule, const Moment& moment) {
  const std::uint64_t now = rule.unit == Unit::step ? moment.step : moment.epoch;
  const Way* way = &rule.way;
  for (const Change& change : rule.schedule)
    if (change.from <= now) way = &change.way;
  return *way;
}

}  // namespace

Way usual_way(std::string_view codec) {
  return {.codec = std::string(codec),
          .feedback = codec.starts_with("onebit") ? Feedback::on : Feedback::off};
}

Plan plan_for(const Way& way) {
  Plan plan;
  plan.rules.push_back({.pattern = "*", .way = way});
  return plan;
}

const Way& way_of(const Plan& plan, std::string_view tensor, std::size_t elements,
                  const Moment& moment) {
  static const Way kAsItIs;
  if (elements < plan.min_elements) return kAsItIs;
  for (const Rule& rule : plan.rules)
    if (matches(rule.pattern, tensor)) return way_at(rule, moment);
  return kAsItIs;
}

}  // namespace narrowcast
