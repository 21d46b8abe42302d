#pragma once

#include <cstdint>
#include <vector>

#include "codec/codec.hpp"
#include "collective/collective.hpp"

// What a collective must leave, so that every result can be checked.
namespace narrowcast::bench {

// The tensors that the ranks start with: gradient-like, another one on each rank, and every rank
// can draw any part of anyone's.
struct Inputs {
  std::uint64_t seed = 1;

  void draw(int rank, std::size_t begin, MutableFloats out) const;
};

// Exact values, and how far from them a result may be.
struct Expectation {
  std::vector<double> exact;
  std::vector<float> allowed;

  double largest() const;  // of |exact|
  // The largest error of a result, to the largest exact value; infinite where something is NaN.
  double error_of(Floats result) const;
  // Whether value i may be x. Infinite bounds allow anything.
  bool allows(std::size_t i, float x) const;
};

// What an all-reduce adds up, and how.
struct Addition {
  const AllReduceRow* algorithm = nullptr;  // none: float32 in any order, as engines do
  const Codec* codec = nullptr;             // none: float32
  Reduction how = {};
  int ranks = 1;
};

// The sum or average of what all ranks have. An algorithm that is not known here is Fault::system.
Expectation expect_all_reduce(const Inputs& inputs, const Addition& addition, std::size_t count);

// The values from `begin` on, which are a tensor of their own.
struct Stretch {
  std::size_t begin = 0;
  std::size_t count = 0;
};

// The sum of that stretch of all ranks, encoded once each.
Expectation expect_scattered(const Inputs& inputs, const Addition& addition, const Stretch& where);

// That stretch of one rank, encoded once.
Expectation expect_copy(const Inputs& inputs, int rank, const Codec& codec, const Stretch& where);

// One after the other.
void append(Expectation& to, const Expectation& more);

}  // namespace narrowcast::bench
