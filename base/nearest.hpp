#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <ranges>
#include <string_view>

namespace narrowcast {

// Letters to insert, delete or replace to get from one word to the other (Levenshtein).
std::size_t changes(std::string_view from, std::string_view to);

// The known word that takes the fewest changes, if these are few enough to have been a slip.
template <std::ranges::forward_range Words>
std::optional<std::string_view> nearest(std::string_view word, const Words& known) {
  const auto distance = [&](std::string_view each) { return changes(word, each); };
  const auto found = std::ranges::min_element(known, {}, distance);
  if (found == std::ranges::end(known)) return std::nullopt;
  const std::string_view name = *found;
  if (distance(name) > std::max<std::size_t>(name.size() / 3, 1)) return std::nullopt;
  return name;
}

}  // namespace narrowcast
