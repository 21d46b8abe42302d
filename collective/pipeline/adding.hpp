#pragma once

#include <cstdint>
#include <vector>

#include "collective/pipeline/packing.hpp"

namespace narrowcast {

// Adds up the messages of one chunk, in place of its values, in the order they are given.
class Adding {
 public:
  Adding(const Packing& packing, Sum sum) : packing_(packing), sum_(sum) {}

  // A new sum: the first message will be decoded over the values. Sums of the same values at
  // different levels round with different dice.
  void begin(std::uint32_t level = 0) {
    count_ = 0;
    level_ = level;
  }
  void add(const Chunk& chunk, const Message& message);

  // For Self::exact: puts this rank's values aside, with what its residual holds back, and adds
  // them in their turn as they are.
  void keep(const Chunk& chunk);
  void add_kept(const Chunk& chunk);

 private:
  Thrower rounding(std::uint32_t which) const;
  void add_floats(const Chunk& chunk, MutableFloats addends);
  void add_compensated(const Part& part, MutableFloats addends, MutableFloats compensation) const;

  const Packing& packing_;
  Sum sum_;
  std::uint32_t count_ = 0;
  std::uint32_t level_ = 0;
  std::vector<float> addends_;
  std::vector<float> compensation_;
  std::vector<float> kept_;
};

}  // namespace narrowcast
