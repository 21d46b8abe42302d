#include "tests/plan/any_plan.hpp"

namespace narrowcast::test {
namespace {

using rc::gen::elementOf;
using rc::gen::inRange;

template <class Value>
Value one_of(std::vector<Value> values) {
  return *elementOf(std::move(values));
}

std::string any_text() {
  return *rc::gen::container<std::string>(
      elementOf(std::string("ab.*?_ \"'\\#=[]{},\n\t\r\x01\x7f")));
}

// Feedback is no matter of activations.
Way any_link() {
  const auto scaling = one_of<Scaling>({Scaling::none, Scaling::aps, Scaling::aps_tight});
  if (scaling != Scaling::none)
    return {.codec = one_of<std::string>({"float:e=4,m=3", "e5m2"}), .scaling = scaling};
  return {.codec = one_of<std::string>({"fp32", "dynamic8:block=64", "onebit:column=shape"})};
}

Way any_way() {
  Way way = any_link();
  way.feedback = one_of<Feedback>({Feedback::off, Feedback::on});
  return way;
}

Rule any_rule() {
  Rule rule{.pattern = "x" + any_text(), .way = any_way()};
  const std::size_t changes = *inRange<std::size_t>(0, 4);
  if (changes > 0) rule.unit = one_of<Unit>({Unit::step, Unit::epoch});
  std::uint64_t from = 0;
  for (std::size_t i = 0; i < changes; ++i) {
    from += *inRange<std::uint64_t>(1, std::uint64_t{1} << 40);
    rule.schedule.push_back({from, any_way()});
  }
  return rule;
}

}  // namespace

rc::Gen<Plan> any_plan() {
  return rc::gen::exec([] {
    Plan plan;
    const std::size_t rules = *inRange<std::size_t>(0, 4);
    for (std::size_t i = 0; i < rules; ++i) plan.rules.push_back(any_rule());
    plan.min_elements = *inRange<std::size_t>(0, 1'000'000);
    plan.algorithm = one_of<std::string>({"direct", "ring", "hierarchy", "gather", "auto"});
    plan.group = *inRange(0, 100);
    plan.fusion_bytes = *inRange<std::size_t>(0, 1000) << *elementOf(std::vector<int>{0, 10, 20});
    plan.total = one_of<Total>({Total::sum, Total::average});
    plan.non_finite = one_of<NonFinitePolicy>(
        {NonFinitePolicy::propagate, NonFinitePolicy::skip_step, NonFinitePolicy::fail});
    plan.deadline = std::chrono::milliseconds(*inRange<std::int64_t>(1, 1'000'000'000'000));
    plan.key_file = any_text();
    plan.activations = any_link();
    plan.errors = any_link();
    return plan;
  });
}

}  // namespace narrowcast::test
