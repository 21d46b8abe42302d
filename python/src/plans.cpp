#include "python/src/plans.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <string>

#include "codec/codec.hpp"
#include "python/src/parts.hpp"

namespace narrowcast::python {
namespace {

namespace nb = nanobind;

// Whether NaN and infinity arrive as something that is not finite, on every rank.
bool propagates(const Codec& codec) {
  switch (codec.promise().non_finite) {
    case NonFinite::exact:
    case NonFinite::nan_becomes_inf:
    case NonFinite::inf_becomes_nan:
    case NonFinite::block_is_nan:
    case NonFinite::block_not_finite:
      return true;
    case NonFinite::saturates_inf:
    case NonFinite::nan_becomes_inf_inf_saturates:
    case NonFinite::refuses_nan:
      break;
  }
  return false;
}

bool hides(const Way& way) { return !propagates(*make_codec(way.codec, {.innermost = 1})); }

bool hides_at_times(const Rule& rule) {
  return hides(rule.way) ||
         std::ranges::any_of(rule.schedule, [](const Change& change) { return hides(change.way); });
}

// Every tensor in that codec, with what training with it needs.
Plan plan_of(const std::string& spec) { return seen_by_all(plan_for(usual_way(spec))); }

double deadline(const Plan& plan) { return std::chrono::duration<double>(plan.deadline).count(); }

}  // namespace

Plan seen_by_all(Plan plan) {
  if (plan.non_finite == NonFinitePolicy::propagate &&
      std::ranges::any_of(plan.rules, hides_at_times))
    plan.non_finite = NonFinitePolicy::skip_step;
  return plan;
}

void add_plans(nb::module_& module) {
  using nb::arg;
  nb::class_<Plan>(module, "Plan", "Which tensor travels how, and when (docs/plan.md).")
      .def(
          "__eq__", [](const Plan& a, const Plan& b) { return a == b; }, nb::is_operator(),
          nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__str__", [](const Plan& plan) { return to_toml(plan); })
      .def_prop_ro("deadline", deadline)
      .def_prop_ro("averages", [](const Plan& plan) { return plan.total == Total::average; })
      .def_ro("algorithm", &Plan::algorithm)
      .def_ro("key_file", &Plan::key_file);
  module.def("plan_of", plan_of, arg("spec"));
  module.def(
      "parse_plan",
      [](const std::string& toml, const std::string& origin) {
        return seen_by_all(parse_plan(toml, origin));
      },
      arg("toml"), arg("origin"));
  module.def(
      "read_plan", [](const std::string& file) { return seen_by_all(read_plan(file)); },
      arg("file"));
}

}  // namespace narrowcast::python
