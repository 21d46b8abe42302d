#include "cli/nearest.hpp"

#include "base/nearest.hpp"

namespace narrowcast::cli {

std::string advice(std::string_view word, std::span<const std::string> known,
                   std::string_view help) {
  const auto near = nearest(word, known);
  const std::string start = near ? "; did you mean '" + std::string(*near) + "'? See '" : "; see '";
  return start + std::string(help) + "'";
}

}  // namespace narrowcast::cli
