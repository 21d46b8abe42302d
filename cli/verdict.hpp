#pragma once

#include <string>

#include "predict/advice.hpp"

namespace narrowcast::cli {

// Advice in words, with what it rests on.
std::string verdict_text(const Advice& advice, const Wish& wish, const Profile& profile);

// The same in one line.
std::string verdict_line(const Advice& advice);

}  // namespace narrowcast::cli
