#pragma once

#include <optional>
#include <vector>

#include "base/json.hpp"

// An epoch of training, as runs print it and as records keep it.
namespace narrowcast {

struct EpochPoint {
  double epoch = 0;
  double train_loss = 0;
  std::optional<double> test_error;  // percent
  double images_per_s = 0;
  double step_ms = 0;
  double compute_ms = 0;
  double wait_ms = 0;
  double overlap = 0;
  double wire_bytes = 0;  // in this epoch
  double fp32_bytes = 0;
};

// What is not finite, a loss perhaps, is null there. Fault::wire, without a place, for what is no epoch.
EpochPoint epoch_of_json(const JsonTree& object);
JsonValue json_of_epoch(const EpochPoint& point);

// What a restart goes through once more counts as it went the last time.
void add_epoch(std::vector<EpochPoint>& epochs, const EpochPoint& point);

}  // namespace narrowcast
