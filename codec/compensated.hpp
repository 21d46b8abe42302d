#pragma once

#include <cmath>
#include <cstddef>

#include "base/bytes.hpp"

namespace narrowcast {

// Sums after Kahan, value by value, and what each of them is too large by. All spans are as long.
struct CompensatedSums {
  MutableFloats sum;
  MutableFloats rest;    // 0 at first
  MutableFloats addend;  // scratch memory afterwards
  MutableFloats next;    // scratch memory
};

// One addition:
//   y = S(x - r);  t = S(s + y);  r = S(S(t - s) - y);  s = t
// round(floats, which) is S, for rounding 0 to 3 of them. A rest that is not finite counts as none, so
// that overflow stays infinity; without it, infinity less infinity would make NaN of the sum.
template <class Round>
void add_compensated(const CompensatedSums& of, const Round& round) {
  const std::size_t count = of.sum.size();
  for (std::size_t i = 0; i < count; ++i) of.addend[i] -= of.rest[i];
  round(of.addend, 0U);
  for (std::size_t i = 0; i < count; ++i) of.next[i] = of.sum[i] + of.addend[i];
  round(of.next, 1U);
  for (std::size_t i = 0; i < count; ++i) of.rest[i] = of.next[i] - of.sum[i];
  round(of.rest, 2U);
  for (std::size_t i = 0; i < count; ++i) of.rest[i] -= of.addend[i];
  round(of.rest, 3U);
  for (std::size_t i = 0; i < count; ++i) {
    if (!std::isfinite(of.rest[i])) of.rest[i] = 0;
    of.sum[i] = of.next[i];
  }
}

}  // namespace narrowcast
