#include <charconv>
#include <optional>
#include <span>
#include <string>

#include "base/error.hpp"
#include "transport/shaped.hpp"

namespace narrowcast {
namespace {

struct Unit {
  std::string_view name;
  double size;
};
constexpr Unit kRates[] = {{"kbit", 1e3 / 8}, {"mbit", 1e6 / 8}, {"gbit", 1e9 / 8}};
constexpr Unit kTimes[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};

constexpr double kLongestLatency = 60e9;  // nanoseconds

// A number and its unit; the first that fits, so longer names come first.
std::optional<double> quantity(std::string_view text, std::span<const Unit> units) {
  for (const Unit& unit : units) {
    if (!text.ends_with(unit.name)) continue;
    const std::string_view digits = text.substr(0, text.size() - unit.name.size());
    double number = 0;
    const char* end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, number);
    if (error != std::errc{} || stop != end || digits.empty()) return std::nullopt;
    return number * unit.size;
  }
  return std::nullopt;
}

}  // namespace

Shape parse_shape(std::string_view text) {
  const std::size_t comma = text.find(',');
  const std::optional<double> rate = quantity(text.substr(0, comma), kRates);
  const std::optional<double> latency =
      comma == std::string_view::npos ? 0 : quantity(text.substr(comma + 1), kTimes);
  const bool good =
      rate && *rate > 0 && *rate < 1e15 && latency && *latency >= 0 && *latency <= kLongestLatency;
  if (!good)
    throw Error(Fault::usage, "'" + std::string(text) +
                                  "' is not the shape of a link, such as 1gbit or 100mbit,200us");
  return {.bytes_per_second = *rate,
          .latency = std::chrono::nanoseconds(static_cast<std::int64_t>(*latency))};
}

}  // namespace narrowcast
