#include "cli/nearest.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace narrowcast::cli {
namespace {

// Letters to insert, delete or replace to get from one word to the other (Levenshtein).
std::size_t changes(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t replaced = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string advice(std::string_view word, std::span<const std::string> known,
                   std::string_view help) {
  const auto distance = [&](const std::string& each) { return changes(word, each); };
  const auto nearest = std::ranges::min_element(known, {}, distance);
  const bool near =
      nearest != known.end() && distance(*nearest) <= std::max<std::size_t>(nearest->size() / 3, 1);
  const std::string start = near ? "; did you mean '" + *nearest + "'? See '" : "; see '";
  return start + std::string(help) + "'";
}

}  // namespace narrowcast::cli
