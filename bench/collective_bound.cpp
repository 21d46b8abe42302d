#include "bench/collective_bound.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace narrowcast::bench {
namespace {

constexpr double kUnit = 0x1p-24;  // what one operation in float32 is off by, of its result
constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

// Calls take(i, error of encoding a value of at most size_of(i)).
template <class SizeOf, class Take>
void Bound::for_roundings(const Promise& promise, const SizeOf& size_of, const Take& take) const {
  const std::size_t block = promise.block == 0 ? count() : promise.block;
  for (std::size_t begin = 0; begin < count(); begin += block) {
    const std::size_t end = std::min(begin + block, count());
    double largest = 0;
    for (std::size_t i = begin; i < end; ++i) largest = std::max(largest, size_of(i));
    // One value beyond the format may take its whole block along.
    const double of_block = largest <= promise.largest ? promise.of_block * largest : kInfinity;
    for (std::size_t i = begin; i < end; ++i)
      take(i, std::max({of_block, promise.of_value * size_of(i), promise.absolute}));
  }
}

void Bound::start(Floats values) {
  for (std::size_t i = 0; i < count(); ++i) size_[i] = std::abs(static_cast<double>(values[i]));
  std::ranges::fill(error_, 0);
  std::ranges::fill(compensation_, 0);
}

void Bound::round(const Promise& promise) {
  for_roundings(
      promise, [&](std::size_t i) { return size_[i] + error_[i]; },
      [&](std::size_t i, double error) { error_[i] += error; });
}

void Bound::add(const Bound& other) {
  put(other);
  round_sum();
}

void Bound::put(const Bound& other) {
  for (std::size_t i = 0; i < count(); ++i) {
    size_[i] += other.size_[i];
    error_[i] += other.error_[i];
  }
}

void Bound::round_sum() {
  for (std::size_t i = 0; i < count(); ++i) error_[i] += kUnit * (size_[i] + error_[i]);
}

// y = x - c;  t = s + y;  c' = (t - s) - y: four results, each rounded by float32 and by the codec.
// None is larger than four times all that goes in, even when each rounding adds half a value. The
// error of t is at most |c| and two roundings, and c' is the rounding of t and two of its own.
void Bound::add_compensated(const Bound& other, const Promise& promise) {
  constexpr double kLargest = 4;
  const auto size_of = [&](std::size_t i) {
    return kLargest * (size_[i] + error_[i] + other.size_[i] + other.error_[i] + compensation_[i]);
  };
  std::vector<double> rounding(count());
  for_roundings(promise, size_of,
                [&](std::size_t i, double error) { rounding[i] = error + kUnit * size_of(i); });
  for (std::size_t i = 0; i < count(); ++i) {
    size_[i] += other.size_[i];
    error_[i] += other.error_[i] + compensation_[i] + 2 * rounding[i];
    compensation_[i] = 3 * rounding[i];
  }
}

void Bound::tighten(std::span<const double> exact) {
  for (std::size_t i = 0; i < count(); ++i) size_[i] = std::min(size_[i], std::abs(exact[i]));
}

void Bound::divide(int by) {
  for (std::size_t i = 0; i < count(); ++i) {
    size_[i] /= by;
    error_[i] = error_[i] / by + kUnit * (size_[i] + error_[i] / by) +
                std::numeric_limits<float>::denorm_min();
  }
}

}  // namespace narrowcast::bench
