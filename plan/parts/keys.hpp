#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "plan/plan.hpp"
#include "plan/values.hpp"

namespace narrowcast {

// A plain key at the top of a plan.
struct PlanKey {
  std::string_view name;
  std::string_view fits;                      // what it takes
  bool (*set)(Plan& plan, std::string_view);  // false, and nothing has changed: it does not fit
  std::string (*text)(const Plan& plan);      // as TOML has it
};

std::span<const PlanKey> plan_key_rows();

inline constexpr std::array kScalings{Named<Scaling>{"none", Scaling::none},
                                      Named<Scaling>{"aps", Scaling::aps},
                                      Named<Scaling>{"aps-tight", Scaling::aps_tight}};

}  // namespace narrowcast
