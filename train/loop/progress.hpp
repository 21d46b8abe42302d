#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "data/data.hpp"
#include "run/run.hpp"
#include "train/loop/replica.hpp"

namespace narrowcast {

// What the steps of an epoch took together.
struct EpochSums {
  std::uint64_t steps = 0;
  double seconds = 0;
  Times sums = {};
  double busy = 0;
  std::uint64_t bytes = 0;
  std::uint64_t fp32_bytes = 0;
  std::map<std::string, std::uint64_t> bytes_by_codec = {};
  std::uint64_t skipped = 0;

  void add(const StepOutcome& outcome);
  EpochSums& operator+=(const EpochSums& other);
  Times means() const;
};

// "3x224x224".
ImageShape parse_shape(std::string_view text);

}  // namespace narrowcast
