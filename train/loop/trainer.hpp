#pragma once

#include "run/trainer.hpp"

namespace narrowcast {

// Trains on this rank until the run is over or somebody asks to stop.
void train_on_rank(const Run& run, const Surroundings& around);

}  // namespace narrowcast
