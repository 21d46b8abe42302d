#pragma once

#include <string>
#include <vector>

#include "predict/calibrate.hpp"
#include "predict/finding.hpp"

namespace narrowcast {

// Numbers that ranks compare. One thread of each rank calls it.
class Roundtable {
 public:
  Roundtable(Transport& net, Channel channel) : net_(net), channel_(channel) {}

  void meet() { largest({0}); }
  std::vector<double> largest(std::vector<double> own);
  std::vector<double> mean(std::vector<double> own);

 private:
  std::vector<double> reduce(std::vector<double> own, double (*take)(double, double));

  Transport& net_;
  Channel channel_;
  std::uint64_t sequence_ = 0;
};

// Seconds of CPU: of this thread, and of the process.
double thread_seconds();
double process_seconds();

// Between this rank and `peers`, all of which send to all at once.
LinkProfile measure_link(Transport& net, const std::vector<int>& peers, Roundtable& table,
                         const CalibrationOptions& options);

// In CPU time: ranks that share a core do not disturb it.
CodecSpeed measure_codec(const std::string& spec, double seconds);

// How many cores' worth a rank gets while all of them are busy.
double measure_cores(Roundtable& table);

}  // namespace narrowcast
