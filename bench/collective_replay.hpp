#pragma once

#include <cstdint>
#include <vector>

#include "bench/collective_expectation.hpp"

// What a collective leaves, bit for bit, worked out for some stretches of whole blocks by plain
// codec calls: a bound of a coarse codec lets nearly everything pass, this does not.
namespace narrowcast::bench {

// What stands in the result from `begin` on: each value is that of one of the ways. There are
// several where it is the collective's own business which rank comes first.
struct Sample {
  std::size_t begin = 0;
  std::vector<std::vector<float>> ways;

  std::size_t count() const { return ways.front().size(); }
  bool has(std::size_t i, float x) const;  // to the bit
};

// One tensor of a collective. Residuals are zero and `how` is with sums of float32 and encoded
// shares; for anything else there are no samples.
struct Play {
  const Inputs& inputs;
  const Codec& codec;
  Reduction how = {};
  int ranks = 1;
  std::uint64_t tensor = 0;
  Stretch where = {};  // of the inputs
};

// Spread over the tensor, first and last block included, and counted from its first value. A tensor
// that is one block is replayed as a whole, or not at all when it is large.
std::vector<Sample> replay_all_reduce(const Play& play, const AllReduceRow& row);
std::vector<Sample> replay_scattered(const Play& play);
std::vector<Sample> replay_copy(const Play& play, int rank);

}  // namespace narrowcast::bench
