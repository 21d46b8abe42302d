#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "plan/plan.hpp"

namespace narrowcast::test {

// The message of the Fault::usage that a plan must end in, which is one line.
std::string refusal(std::string_view toml);

}  // namespace narrowcast::test
