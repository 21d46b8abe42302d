#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace narrowcast {

// Tables within tables. The parser counts brackets, but not the dots of a key, each of which makes a table
// within one, and takes the stack for all of them.
inline constexpr std::size_t kDeepestToml = 64;

// The line of a key with more dots than that; nothing: there is none. For any text, TOML or not.
std::optional<std::size_t> deep_key(std::string_view text);

}  // namespace narrowcast
