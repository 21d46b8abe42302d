#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "codec/codec.hpp"

namespace narrowcast::bench {

// How large values can be that were encoded, decoded and added, and how far from what exact
// arithmetic would give: by the codec's promise and float32's roundings alone. Holds for any order
// of the additions and any dice. Infinite where the promise says nothing, beyond its largest value.
//
// The values are whole blocks of the codec, starting at one.
class Bound {
 public:
  explicit Bound(std::size_t count) : size_(count), error_(count), compensation_(count) {}

  std::size_t count() const { return size_.size(); }
  std::span<const double> error() const { return error_; }

  // These values as they are.
  void start(Floats values);

  // Encoded and decoded once.
  void round(const Promise& promise);

  // Added in float32.
  void add(const Bound& other);

  // The same in two steps, for sums whose order is not known: first everything is put together,
  // then each addition is rounded as if all had been added before it.
  void put(const Bound& other);
  void round_sum();

  // Added by Kahan's summation, every step of which is rounded by the codec.
  void add_compensated(const Bound& other, const Promise& promise);

  // The exact values are known to be no larger than these.
  void tighten(std::span<const double> exact);

  void divide(int by);

 private:
  template <class SizeOf, class Take>
  void for_roundings(const Promise& promise, const SizeOf& size_of, const Take& take) const;

  std::vector<double> size_;          // of the exact value, at most
  std::vector<double> error_;         // of the real one
  std::vector<double> compensation_;  // of Kahan's term, at most
};

}  // namespace narrowcast::bench
