#pragma once

#include <cstddef>

#include "base/bytes.hpp"
#include "base/team.hpp"

// The time to copy a float32 array is what every codec is compared with. memcpy alone is
// treacherous: on some CPUs it falls to a twentieth of its speed for some sizes and alignments,
// which would flatter every codec. So the yardstick is the better of memcpy and a plain loop of
// vectors.
namespace narrowcast::bench {

// Both start at multiples of kAlignment and have the same size.
void copy_by_memcpy(Floats from, MutableFloats to, Team& team);
void copy_by_loop(Floats from, MutableFloats to, Team& team);

struct CopyTime {
  double memcpy_ns = 0;  // for each value
  double loop_ns = 0;
  double best_ns() const;
  // Bytes read plus bytes written, 10^9 a second.
  double gigabytes_per_second() const;
};

// Copies `values` floats with all threads of the team, for about `seconds` with each method.
CopyTime measure_copy(std::size_t values, Team& team, double seconds);

}  // namespace narrowcast::bench
