#pragma once

#include <cstddef>

#include "base/bytes.hpp"

namespace narrowcast {

// How far decoded values are from what was encoded. Each figure shows something the others hide.
class Distortion {
 public:
  void add(Floats exact, Floats decoded);

  std::size_t count() const { return count_; }
  double mean_absolute() const;
  double mean_squared() const;
  // Mean of |x - x'| / |x| over x != 0; as a fraction, not in percent.
  double mean_relative() const;
  double mean_relative_percent() const { return 100 * mean_relative(); }
  double max_absolute() const { return max_absolute_; }
  // Mean of x' - x: near 0 for an unbiased codec.
  double bias() const;
  // 10 log10(signal / noise); infinite for an exact codec.
  double signal_to_noise_db() const;
  // Cosine of the angle between the two vectors: what matters to a gradient step.
  double cosine() const;

 private:
  std::size_t count_ = 0;
  std::size_t nonzero_ = 0;
  double absolute_ = 0;
  double squared_ = 0;
  double relative_ = 0;
  double max_absolute_ = 0;
  double signed_ = 0;
  double signal_ = 0;
  double decoded_ = 0;
  double product_ = 0;
};

}  // namespace narrowcast
