#pragma once

#include <string>
#include <string_view>

// Text of others, for terminals.
namespace narrowcast {

// One line that a terminal shows as it is: UTF-8 without control characters, nor those that turn the direction of
// writing.
bool is_printable(std::string_view text);

// The same with '?' in place of whatever is not.
std::string printable(std::string_view text);

}  // namespace narrowcast
