#pragma once

#include <map>
#include <string>
#include <string_view>

#include "plan/toml.hpp"

namespace narrowcast {

// By name: what it stands for, as settings of a run.
using NamedSettings = std::map<std::string, std::map<std::string, std::string>>;

// [codecs.NAME] or [plans.NAME] of a study's file. Fault::usage, one line with the place, for what is neither.
NamedSettings read_named(const TomlTree& root, std::string_view key, std::string_view origin);

}  // namespace narrowcast
