#include <fmt/core.h>

#include "plan/parts/keys.hpp"
#include "plan/plan.hpp"
#include "plan/values.hpp"

namespace narrowcast {
namespace {

std::string way_text(const Way& way) {
  return fmt::format("codec = {}, scaling = {}", in_quotes(way.codec),
                     in_quotes(name_of(kScalings, way.scaling)));
}

std::string way_with_feedback(const Way& way) {
  return fmt::format("{}, feedback = {}", way_text(way), text_of(way.feedback == Feedback::on));
}

std::string schedule_text(const Rule& rule) {
  std::string changes;
  for (const Change& change : rule.schedule)
    changes += fmt::format("{}{{ {} = {}, {} }}", changes.empty() ? "" : ", ",
                           rule.unit == Unit::step ? "step" : "epoch", text_of(change.from),
                           way_with_feedback(change.way));
  return changes.empty() ? "" : fmt::format(", schedule = [{}]", changes);
}

}  // namespace

// Without headers of tables, so that it can be the body of one.
std::string to_toml(const Plan& plan) {
  std::string out;
  for (const PlanKey& key : plan_key_rows())
    out += fmt::format("{} = {}\n", key.name, key.text(plan));
  out += fmt::format("activations = {{ {} }}\n", way_text(plan.activations));
  out += fmt::format("errors = {{ {} }}\n", way_text(plan.errors));
  out += "rule = [\n";
  for (const Rule& rule : plan.rules)
    out += fmt::format("  {{ tensors = {}, {}{} }},\n", in_quotes(rule.pattern),
                       way_with_feedback(rule.way), schedule_text(rule));
  return out + "]\n";
}

}  // namespace narrowcast
