#pragma once

#include <span>
#include <string>
#include <string_view>

namespace narrowcast::cli {

// How to go on after a word that does not exist: "; did you mean '...'? See '...'", with the known
// word that takes the fewest changes of a letter when one is near, and the help to look at.
std::string advice(std::string_view word, std::span<const std::string> known,
                   std::string_view help);

}  // namespace narrowcast::cli
