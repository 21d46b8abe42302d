#pragma once

#include <chrono>
#include <string>

#include "base/descriptor.hpp"
#include "transport/workers.hpp"

namespace narrowcast::test {

// Closed on exec, like every descriptor that nobody was given.
struct Pipe {
  Pipe();
  Descriptor reading;
  Descriptor writing;
};

struct Report {
  Outcome outcome;
  std::string out;  // what rank 0 wrote to its standard output
  std::string err;  // what all wrote to their standard error, as it was passed on
  std::chrono::milliseconds took;
};

// Runs a job to its end, with its output in the report.
Report run_job(Staffing staffing);

}  // namespace narrowcast::test
