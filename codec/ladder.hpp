#pragma once

#include <cstdint>
#include <vector>

#include "codec/kernel/codebook.hpp"

namespace narrowcast {

// How a value between two magnitudes of a list is rounded.
enum class Search {
  nearest,     // ties toward zero
  paper_even,  // D16's kernel: nearest, but toward zero above every second magnitude, the even ones
  paper_odd,   // the same above the odd ones
};

// An ascending list of magnitudes, first 0, and the thresholds between them.
class Ladder {
 public:
  // Equal neighbours become one step; they only matter to the parity of D16's kernel.
  Ladder(const std::vector<double>& magnitudes, Search search);

  const std::vector<double>& steps() const { return steps_; }
  // One side of a codebook; the code of each step is its rank, with the sign bit on request.
  kernel::Codebook::Side side(std::uint8_t sign) const;

  double worst_error() const;           // of any value up to the last step
  double worst_relative_error() const;  // of any value from the first step up
  double first_error() const;           // of any value below the first step

 private:
  std::vector<double> steps_;
  std::vector<double> borders_;
};

}  // namespace narrowcast
