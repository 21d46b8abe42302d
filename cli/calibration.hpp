#pragma once

#include <span>
#include <string>
#include <vector>

#include "predict/profile.hpp"
#include "run/run.hpp"
#include "transport/transport.hpp"

namespace narrowcast::cli {

struct Calibration {
  std::vector<Run> runs = {};            // whose networks are measured
  std::vector<std::string> codecs = {};  // empty: the usual ones
  int machine_workers = 1;
  int process_ranks = 1;  // that are threads of one process
  double seconds = 4;     // for each part
};

// Links, codecs, cores and networks, by all ranks together: all get the same profile.
Profile calibrate_all(Transport& net, const Calibration& calibration);

}  // namespace narrowcast::cli
