#include "plan/values.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <vector>

#include "base/nearest.hpp"

namespace narrowcast {
namespace {

constexpr unsigned char kDelete = 0x7f;

bool is_control(char letter) {
  const auto byte = static_cast<unsigned char>(letter);
  return byte < 0x20 || byte == kDelete;
}

std::string escaped(char letter) {
  return fmt::format("\\u{:04X}", static_cast<unsigned char>(letter));
}

template <class Number>
std::optional<Number> number_of(std::string_view text) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stopped != end) return std::nullopt;
  return value;
}

// One character of UTF-8: how many bytes follow the first, and the least that may be coded so.
struct Lead {
  std::size_t more;
  std::uint32_t bits;
  std::uint32_t least;
};

std::optional<Lead> lead_of(std::uint32_t byte) {
  if (byte < 0x80) return Lead{0, byte, 0};
  if (byte >> 5 == 0b110) return Lead{1, byte & 0x1f, 0x80};
  if (byte >> 4 == 0b1110) return Lead{2, byte & 0x0f, 0x800};
  if (byte >> 3 == 0b11110) return Lead{3, byte & 0x07, 0x10000};
  return std::nullopt;
}

}  // namespace

Error unfit(std::string_view origin, std::string_view what) {
  std::string line;
  for (const std::string_view part : {origin, std::string_view(": "), what})
    for (const char letter : part)
      line += is_control(letter) ? escaped(letter) : std::string{letter};
  return {Fault::usage, line};
}

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') out += '\\';
    out += is_control(letter) ? escaped(letter) : std::string{letter};
  }
  return out + "\"";
}

bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const std::optional<Lead> lead = lead_of(static_cast<unsigned char>(text[i++]));
    if (!lead || text.size() - i < lead->more) return false;
    std::uint32_t code = lead->bits;
    for (std::size_t k = 0; k < lead->more; ++k, ++i) {
      const auto byte = static_cast<unsigned char>(text[i]);
      if (byte >> 6 != 0b10) return false;
      code = code << 6 | (byte & 0x3f);
    }
    const bool surrogate = code >= 0xd800 && code < 0xe000;
    if (code < lead->least || code > 0x10ffff || surrogate) return false;
  }
  return true;
}

std::optional<std::uint64_t> whole_of(std::string_view text) {
  return number_of<std::uint64_t>(text);
}

std::optional<double> real_of(std::string_view text) {
  const std::optional<double> value = number_of<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::optional<bool> truth_of(std::string_view text) {
  if (text == "true") return true;
  if (text == "false") return false;
  return std::nullopt;
}

std::string text_of(double value) { return fmt::format("{}", value); }

std::string text_of(std::uint64_t value) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  const std::string digits = std::to_string(value);
  return value > kMost ? in_quotes(digits) : digits;
}

std::string instead_of(std::string_view name, std::span<const std::string_view> known) {
  if (const auto near = nearest(name, known)) return fmt::format("did you mean '{}'?", *near);
  return fmt::format("there are: {}", fmt::join(known, ", "));
}

}  // namespace narrowcast
