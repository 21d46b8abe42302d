#include "run/settings/fields.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace narrowcast::field {

bool put(int& field, std::string_view text, int least) {
  const std::optional<std::uint64_t> value = whole_of(text);
  constexpr std::uint64_t kMost = std::numeric_limits<int>::max();
  if (!value || *value > kMost || *value < static_cast<std::uint64_t>(least)) return false;
  field = static_cast<int>(*value);
  return true;
}

bool put(std::uint64_t& field, std::string_view text) {
  const std::optional<std::uint64_t> value = whole_of(text);
  if (value) field = *value;
  return value.has_value();
}

bool put(double& field, std::string_view text, const Range& range) {
  const std::optional<double> value = real_of(text);
  if (!value || *value < range.least || *value > range.most) return false;
  field = *value + 0.0;  // minus zero is zero
  return true;
}

bool put(bool& field, std::string_view text) {
  const std::optional<bool> value = truth_of(text);
  if (value) field = *value;
  return value.has_value();
}

bool put(std::string& field, std::string_view text) {
  field = text;
  return true;
}

bool put(std::filesystem::path& field, std::string_view text) {
  if (text.find('\0') != std::string_view::npos) return false;
  field = text;
  return true;
}

bool put(std::vector<double>& field, std::string_view text) {
  std::vector<double> values;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    std::string_view part = text.substr(0, comma);
    while (part.starts_with(' ')) part.remove_prefix(1);
    const std::optional<double> value = real_of(part);
    if (!value || *value <= (values.empty() ? 0 : values.back())) return false;
    values.push_back(*value);
    if (comma + 1 == text.size()) return false;  // a comma at the end
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  field = std::move(values);
  return true;
}

std::string text(const std::vector<double>& field) {
  return fmt::format("[{}]", fmt::join(field, ", "));
}

}  // namespace narrowcast::field
