#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "data/data.hpp"
#include "run/run.hpp"
#include "store/store.hpp"
#include "train/loop/replica.hpp"

namespace narrowcast {

// How far a run has come. With seed and step everything random follows, so there is no other random
// state. Plain memory: rank 0 sends it to the others as it is.
struct Progress {
  std::uint64_t step = 0;             // steps taken
  std::uint64_t epoch = 0;            // epochs finished
  std::uint64_t images_in_epoch = 0;  // of all ranks
  double loss_sum = 0;                // of the epoch so far, over steps of this rank
  double loss_count = 0;
  double best_error = -1;  // below 0: none yet
  double last_error = -1;

  void note_error(double percent);
  std::optional<double> best() const;
  std::optional<double> last() const;
};

// Everything that a run needs to go on.
Snapshot snapshot_of(const Progress& progress, const Run& run, const DataSet& data,
                     std::vector<Array> arrays);
// Fault::usage when it is of another network or data set, or of another seed.
Progress read_progress(const Snapshot& snapshot, const Run& run, const DataSet& data);

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
