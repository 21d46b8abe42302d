#pragma once

#include <cstddef>

#include "base/bytes.hpp"

namespace narrowcast::bench {

// What a tensor looks like. NaN and infinity are counted and otherwise left out.
struct Summary {
  std::size_t finite = 0;
  std::size_t not_finite = 0;
  double least = 0;
  double most = 0;
  double mean = 0;
};

Summary summarise(Floats values);

}  // namespace narrowcast::bench
