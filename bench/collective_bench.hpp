#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/team.hpp"
#include "bench/collective_control.hpp"
#include "bench/collective_exercise.hpp"
#include "transport/counting.hpp"

namespace narrowcast::bench {

// What came out of one request. Microseconds; the time of an iteration is that of its slowest rank,
// from leaving a barrier to having its own result, and what is said of iterations is their median
// unless it says otherwise.
struct CollectiveTime {
  Collective collective = Collective::all_reduce;
  int ranks = 1;
  std::size_t count = 0;
  std::uint64_t wire_bytes = 0;      // that the rank sent which sent most
  std::uint64_t declared_bytes = 0;  // the same, as the collective declares it
  std::uint64_t fp32_bytes = 0;      // that this algorithm declares for fp32
  double time_us = 0;
  double least_us = 0;
  double mean_us = 0;
  // Of the rank that was the slowest.
  double encode_us = 0;
  double wire_us = 0;       // neither encoding nor decoding: sending, receiving, waiting
  double decode_us = 0;     // and adding
  std::uint64_t wrong = 0;  // values, over all ranks and iterations
  double max_error = 0;     // the largest error, to the largest exact value

  std::size_t bytes() const { return count * sizeof(float); }
  // How many times fewer bytes than fp32 takes by the same algorithm.
  double ratio() const;
  // Gigabytes a second, as nccl-tests count them: by the size of the tensor, and by what a link has
  // to carry of it.
  double algorithm_bandwidth() const;
  double bus_bandwidth() const;
};

// Measures collectives on the ranks of one transport. All ranks make one and ask the same of it at
// the same time; each of them gets the same answers.
class CollectiveBench {
 public:
  // Both must outlive it. `local_ranks` share this machine's memory.
  CollectiveBench(Counting& net, Team& team, int local_ranks);
  ~CollectiveBench();
  CollectiveBench(const CollectiveBench&) = delete;
  CollectiveBench& operator=(const CollectiveBench&) = delete;

  Control& control() { return control_; }

  // Runs the request, and checks every result of every rank outside of the time that is measured: a
  // value is wrong when it differs from rank 0's, where all ranks must have the same, or when it is
  // further from the exact one than the codec's promise allows, or when it is in a sample and not
  // what the codec itself makes of it. Fault::usage for what cannot be done, Fault::system when there is no memory for it.
  CollectiveTime measure(const CollectiveRequest& request);

 private:
  class Stopwatches;
  class Faults;
  struct Lap;
  struct Totals;

  Lap run_once(Exercise& exercise, std::uint64_t step);
  void verify(Exercise& exercise, const Expectation& expected, std::uint64_t step, Lap& lap);

  Counting& net_;
  int local_ranks_;
  std::unique_ptr<Stopwatches> stopwatches_;
  Conversation group_;
  Control control_;
  std::uint64_t steps_ = 0;
};

}  // namespace narrowcast::bench
