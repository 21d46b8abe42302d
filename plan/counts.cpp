#include "plan/counts.hpp"

#include <limits>
#include <optional>

#include "base/error.hpp"
#include "plan/values.hpp"

namespace narrowcast {
namespace {

struct Unit {
  char letter;
  std::size_t size;
};
constexpr Unit kUnits[] = {
    {'G', std::size_t{1} << 30}, {'M', std::size_t{1} << 20}, {'K', std::size_t{1} << 10}};

}  // namespace

std::uint64_t parse_number(std::string_view text, std::string_view what) {
  if (const auto number = whole_of(text)) return *number;
  throw Error(Fault::usage, "'" + std::string(text) + "' is not " + std::string(what));
}

std::size_t parse_count(std::string_view text) {
  std::string_view digits = text;
  std::size_t unit = 1;
  for (const Unit& each : kUnits)
    if (digits.ends_with(each.letter)) {
      unit = each.size;
      digits.remove_suffix(1);
      break;
    }
  const std::optional<std::uint64_t> count = whole_of(digits);
  if (!count || *count == 0 || *count > std::numeric_limits<std::size_t>::max() / unit)
    throw Error(Fault::usage, "'" + std::string(text) +
                                  "' is not a count of values, such as 1000, 64K, 25M or 1G");
  return *count * unit;
}

std::string count_text(std::size_t count) {
  for (const Unit& unit : kUnits)
    if (count != 0 && count % unit.size == 0)
      return std::to_string(count / unit.size) + unit.letter;
  return std::to_string(count);
}

}  // namespace narrowcast
