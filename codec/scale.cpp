#include "codec/scale.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "base/error.hpp"

namespace narrowcast {
namespace {

constexpr int kZeroExponentCode = kMaxExponent + 1;

// Numbers of the format come back as they were, whatever the rounding.
bool holds(const Codec& codec, float value) {
  std::array<std::byte, sizeof(float)> bytes;
  float back = 0;
  const std::size_t used = codec.encode({&value, 1}, bytes);
  codec.decode(Bytes(bytes).first(used), {&back, 1});
  return value != 0 && back == value;
}

int floor_log2(double x) { return std::ilogb(x); }

int ceil_log2(double x) {
  int exponent = 0;
  return std::frexp(x, &exponent) == 0.5 ? exponent - 1 : exponent;
}

// The sum of that many shares of magnitude `most`: added up at once, or rounded each time.
double worst_sum(const Grid& grid, int addends, double most) {
  double sum = grid.rounded(most);
  const double at_once = sum * addends;
  for (int i = 1; i < addends && !grid.overflows(sum); ++i) {
    const double next = grid.rounded(sum + most);
    if (next == sum) break;
    sum = next;
  }
  return std::max(sum, at_once);
}

bool fits(const Grid& grid, const Addends& addends, double most) {
  if (grid.overflows(worst_sum(grid, addends.ranks + addends.held, most))) return false;
  if (addends.group == 0 || addends.group >= addends.ranks) return true;
  const double of_group = worst_sum(grid, addends.group + addends.held, most);
  const int groups = (addends.ranks + addends.group - 1) / addends.group;
  return !grid.overflows(of_group) &&
         !grid.overflows(worst_sum(grid, groups + addends.held, grid.rounded(of_group)));
}

}  // namespace

bool is_scalable(const Codec& codec) {
  constexpr std::string_view kNames[] = {"float", "e4m3", "e5m2", "fp16", "bf16"};
  const std::string_view spec = codec.spec();
  return std::ranges::find(kNames, spec.substr(0, spec.find(':'))) != std::end(kNames);
}

Grid::Grid(const Codec& codec) {
  const Promise& promise = codec.promise();
  // Half a unit is promised for the nearest, a whole one for other roundings.
  const double units = holds(codec, static_cast<float>(promise.absolute)) ? 1 : 0.5;
  largest_ = promise.largest;
  unit_ = promise.absolute / units;
  mantissa_ = -floor_log2(promise.of_value / units);
  upward_ = promise.bias.has_value();
  end_ = upward_ ? std::nextafter(largest_, HUGE_VAL) : largest_ + quantum(largest_) / 2;
  std::uint64_t above = std::uint64_t{1} << 32;
  size_ = 1;
  while (above - size_ > 1) {
    const std::uint64_t middle = size_ + (above - size_) / 2;
    (at(middle - 1) <= largest_ ? size_ : above) = middle;
  }
}

double Grid::at(std::uint64_t index) const {
  const std::uint64_t per_binade = std::uint64_t{1} << mantissa_;
  if (index < per_binade) return static_cast<double>(index) * unit_;
  const auto steps = static_cast<double>(per_binade + index % per_binade);
  return std::ldexp(steps * unit_, static_cast<int>(index / per_binade) - 1);
}

double Grid::quantum(double x) const {
  return std::max(unit_, std::ldexp(1.0, floor_log2(x) - mantissa_));
}

double Grid::rounded(double x) const {
  if (x == 0) return 0;
  const double step = quantum(x);
  // Half-way to the even number; a format without mantissa may stay below that.
  return (upward_ ? std::ceil(x / step) : std::nearbyint(x / step)) * step;
}

double Grid::reach(std::uint64_t index) const {
  if (upward_) return at(index);
  const double middle = (at(index) + at(index + 1)) / 2;
  const bool takes_middle = mantissa_ > 0 && index % 2 == 0;
  return takes_middle ? middle : std::nextafter(middle, 0);
}

double ceiling_of(const Grid& grid, const Addends& addends) {
  std::uint64_t good = 0;
  std::uint64_t bad = grid.size();
  while (bad - good > 1) {
    const std::uint64_t middle = good + (bad - good) / 2;
    (fits(grid, addends, grid.reach(middle)) ? good : bad) = middle;
  }
  // The next value itself may do where those that are rounded to it do not.
  if (bad < grid.size() && fits(grid, addends, grid.at(bad))) return grid.at(bad);
  return good == 0 ? 0 : grid.reach(good);
}

Scale::Scale(const Codec& codec, Scaling scaling, const Addends& addends)
    : scaling_(scaling), ranks_(addends.ranks), power_(0), ceiling_(0) {
  if (!is_scalable(codec))
    throw Error(Fault::usage,
                fmt::format("aps scales float, e4m3, e5m2, fp16 and bf16, not {}", codec.spec()));
  if (codec.promise().largest > 0) {
    const Grid grid(codec);
    power_ = floor_log2(grid.largest());
    ceiling_ = ceiling_of(grid, addends);
  }
  if (ceiling_ == 0)
    throw Error(Fault::usage, fmt::format("{} has no room for a sum over {} ranks: even its "
                                          "smallest value overflows",
                                          codec.spec(), addends.ranks));
}

int Scale::exponent(float largest) const {
  int of_ceiling = 0;
  int of_largest = 0;
  const bool over =
      std::frexp(static_cast<double>(largest), &of_largest) > std::frexp(ceiling_, &of_ceiling);
  const int safe = of_ceiling - of_largest - (over ? 1 : 0);
  const int of_paper = power_ - ceil_log2(static_cast<double>(largest) * ranks_);
  const int wanted = scaling_ == Scaling::aps_tight ? of_paper + 1 : of_paper;
  return std::clamp(std::min(safe, wanted), -kMaxExponent, kMaxExponent);
}

std::uint8_t Scale::code(float largest) const {
  if (largest == 0) return 0;
  return static_cast<std::uint8_t>(kZeroExponentCode - exponent(largest));
}

int Scale::exponent_of(std::uint8_t code) {
  return code == 0 ? 0 : std::max(kZeroExponentCode - code, -kMaxExponent);
}

}  // namespace narrowcast
