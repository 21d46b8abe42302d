#pragma once

#include <map>
#include <string>
#include <string_view>

#include "run/run.hpp"

namespace narrowcast {

// Where the value of a key came from.
using Origins = std::map<std::string, std::string, std::less<>>;

// Settings that do not go together are Fault::usage, starting with the origin of one of them.
void check_run(const Run& run, const Origins& origins);

}  // namespace narrowcast
