#pragma once

#include <rapidcheck.h>

#include "plan/plan.hpp"

namespace narrowcast::test {

// Plans that a file can have, of all kinds.
rc::Gen<Plan> any_plan();

}  // namespace narrowcast::test
