#pragma once

#include <cstddef>
#include <cstdint>

#include "codec/codec.hpp"

// Auto precision scaling: powers of two that bring a tensor to the top of a float format's range, but
// so that no sum over the ranks leaves it. docs/exchange.md has the arithmetic.
namespace narrowcast {

// Powers of two that bring a tensor into the range of a float format before it is rounded (auto
// precision scaling).
enum class Scaling {
  none,
  aps,        // the factor of the paper
  aps_tight,  // twice that wherever no partial sum can overflow
};

// Whether a codec rounds value by value to a float format, as scaling needs it.
bool is_scalable(const Codec& codec);

// The values of a float format, as far as magnitudes go.
class Grid {
 public:
  explicit Grid(const Codec& codec);

  double largest() const { return largest_; }
  // The magnitudes in ascending order: 0, the smallest, ...; `size` of them.
  double at(std::uint64_t index) const;
  std::uint64_t size() const { return size_; }
  // The most that x, not negative, can become by rounding.
  double rounded(double x) const;
  // Whether rounding it may give something else than a number of the format.
  bool overflows(double x) const { return x >= end_; }
  // The most that is certain to become at(index) or less.
  double reach(std::uint64_t index) const;

 private:
  double quantum(double x) const;  // the distance between values around x

  double largest_;
  double unit_;  // the smallest
  int mantissa_;
  bool upward_;  // any rounding may be to the next larger value
  double end_;   // the smallest magnitude that is too large
  std::uint64_t size_;
};

// What is added up: a share of each rank, in groups of neighbours first where there are such, and
// `held` residuals more in each sum that is encoded again.
struct Addends {
  int ranks = 1;
  int group = 0;  // 0: no groups
  int held = 0;
  bool operator==(const Addends&) const = default;
};

// The largest magnitude that shares may have without any sum of them leaving the grid, whether
// it is rounded after each addition, in any order, or at the end. 0: there is none.
double ceiling_of(const Grid& grid, const Addends& addends);

class Scale {
 public:
  // Fault::usage for codecs that cannot be scaled, and for a format that has no room for such a sum.
  Scale(const Codec& codec, Scaling scaling, const Addends& addends);

  // k, where 2^k is the factor for shares of at most that magnitude, which is finite and not 0.
  int exponent(float largest) const;

  // As one byte, so that the maximum over all ranks stands for the smallest factor; 0 stands for
  // values that are all zero, and then for no scaling at all.
  std::uint8_t code(float largest) const;
  static int exponent_of(std::uint8_t code);

 private:
  Scaling scaling_;
  int ranks_;
  int power_;  // the largest 2^p in the format
  double ceiling_;
};

}  // namespace narrowcast
