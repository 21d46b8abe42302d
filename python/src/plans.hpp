#pragma once

#include "plan/plan.hpp"

namespace narrowcast::python {

// A plan that keeps no overflow from whoever scales losses: where a codec would, the steps that have one
// are skipped by all ranks.
Plan seen_by_all(Plan plan);

}  // namespace narrowcast::python
