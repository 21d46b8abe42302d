#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "run/run.hpp"

// How far a run has come, and the texts of a checkpoint that say so.
namespace narrowcast {

// With seed and step everything random follows, so there is no other random state. Plain memory: rank 0 sends it to
// the others as it is.
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

// What a run is trained on.
struct TrainingData {
  std::string name;
  std::uint64_t fingerprint = 0;
  std::uint64_t images = 1;
};

// By name, the metadata of a checkpoint's file.
using Texts = std::map<std::string, std::string>;

Texts texts_of(const Progress& progress, const Run& run, const TrainingData& data);
// Fault::usage when it is of another network or data set, or of another seed; Fault::wire for what no run can have come
// to.
Progress read_progress(const Texts& texts, const Run& run, const TrainingData& data);

}  // namespace narrowcast
