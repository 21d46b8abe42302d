#include "exchange/engine/scan.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace narrowcast {
namespace {

constexpr std::int32_t kInfinity = 0x7f80'0000;
// Independent maxima, side by side: what the compiler needs to use vectors.
constexpr std::size_t kLanes = 16;

// Without their signs, floats sort as the integers that have the same bits, NaN above infinity.
std::int32_t magnitude(float value) { return std::bit_cast<std::int32_t>(value) & 0x7fff'ffff; }

template <class At>
std::int32_t largest_of(std::size_t count, const At& at) {
  std::array<std::int32_t, kLanes> largest = {};
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      largest[lane] = std::max(largest[lane], magnitude(at(i + lane)));
  for (; i < count; ++i) largest[0] = std::max(largest[0], magnitude(at(i)));
  return *std::ranges::max_element(largest);
}

template <class At>
Magnitudes scan_each(std::size_t count, const At& at) {
  const std::int32_t all = largest_of(count, at);
  if (all < kInfinity) return {.largest = std::bit_cast<float>(all)};
  // Seldom enough for a second pass.
  std::int32_t finite = 0;
  for (std::size_t i = 0; i < count; ++i)
    if (magnitude(at(i)) < kInfinity) finite = std::max(finite, magnitude(at(i)));
  return {.largest = std::bit_cast<float>(finite), .all_finite = false};
}

}  // namespace

Magnitudes scan(Floats values) {
  return scan_each(values.size(), [x = values.data()](std::size_t i) { return x[i]; });
}

Magnitudes scan(Floats values, Floats residual) {
  if (residual.empty()) return scan(values);
  return scan_each(values.size(),
                   [x = values.data(), r = residual.data()](std::size_t i) { return x[i] + r[i]; });
}

}  // namespace narrowcast
