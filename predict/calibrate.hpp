#pragma once

#include <span>
#include <string>
#include <vector>

#include "predict/profile.hpp"
#include "transport/transport.hpp"

// What this system can do, measured by all ranks together. Every function is called by all of them, in
// the same order, and gives all of them the same numbers.
namespace narrowcast {

struct CalibrationOptions {
  int machine_workers = 1;  // neighbouring ranks that share a machine
  int process_ranks = 1;    // that are threads of one process
  Channel channel = 0;      // the first of eight that nobody else uses
  double seconds = 2;       // for the links, and as much for the codecs
};

// Codecs that are measured when nobody says which.
std::span<const std::string_view> usual_codecs();

// Links, codecs and cores; not what any network computes.
Profile calibrate(Transport& net, std::span<const std::string> codecs,
                  const CalibrationOptions& options);

}  // namespace narrowcast
