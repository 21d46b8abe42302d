#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.hpp"
#include "predict/models.hpp"
#include "predict/profile.hpp"
#include "predict/traffic_book.hpp"

// How long a step will take, and what it spends its time on.
namespace narrowcast {

// What one worker computes in a step.
struct Workload {
  std::string name;
  int batch = 0;  // of a worker
  double forward_ms = 0;
  double backward_ms = 0;
  double rest_ms = 0;
  double straggler = 0;
  Spread spread = 0;
  std::vector<MeasuredTensor> tensors = {};  // in the order in which they are ready
  std::vector<ModelLayer> connected =
      {};                      // fully connected layers, in the order of the forward pass
  double connected_share = 0;  // of the compute of forward and backward
  double compute_ms() const { return forward_ms + backward_ms + rest_ms; }
};

// As the profile measured it; another batch takes time in proportion. Else from the table of the
// network and the profile's speed. `batch` 0: the measured one, or 32.
Workload workload_of(const Profile& profile, std::string_view model, int batch);
Workload workload_of(const ComputeProfile& compute, const Model& model, int batch);

// Values in one codec that travel together.
struct Cargo {
  std::string codec;
  bool feedback = false;
  double encoded = 0;
  double decoded = 0;
  double added = 0;
};

// What one fused buffer costs the busiest worker, apart from the speed of anything.
struct Shipment {
  double ready_ms = 0;  // of back-propagation
  struct Way {
    double rounds = 0;
    double messages = 0;
    double bytes = 0;  // sent
  };
  Way machine = {};
  Way network = {};
  std::vector<Cargo> cargo = {};
  double chunks = 1;           // through which encoding, wire and decoding overlap
  bool alone_on_link = false;  // no other worker of the machine sends on it at the same time
  bool waits = false;          // computing stands still until it is over (activations)
};

struct Scenario {
  Workload work = {};
  Plan plan = {};
  int workers = 2;
  int machine_workers = 1;
  Parallel parallel = Parallel::data;
  int sub_batches = 1;
};

// What travels in a step. Does not depend on any speed but where the algorithm is `auto`, so that one
// list serves many profiles.
struct Loads {
  std::vector<Shipment> shipments;
  double control_rounds = 0;  // at the end of the step
  double bytes = 0;           // that a worker sends
  double fp32_bytes = 0;
};

Loads loads_of(const Scenario& scenario, const Profile& profile);
Loads loads_of(const Scenario& scenario, const Profile& profile, TrafficBook& book);

// Milliseconds.
struct Forecast {
  double step = 0;
  double low = 0;  // nine of ten steps' means should lie between
  double high = 0;
  double compute = 0;  // without communication
  double encode = 0;
  double wire = 0;
  double decode = 0;
  double wait = 0;      // after the last gradient was made
  double slowdown = 0;  // of computing, by what else the core does
  double straggling = 0;
  double overlap = 0;  // 0 to 1: of the communication
  double bytes = 0;    // that a worker sends
};

Forecast forecast(const Scenario& scenario, const Loads& loads, const Profile& profile);
Forecast forecast(const Scenario& scenario, const Profile& profile);

// Without which the step would be shortest: "compute", "network", "machine" (links within it), "latency",
// "codec" or "stragglers".
std::string_view dominant_term(const Scenario& scenario, const Loads& loads,
                               const Profile& profile);

// How many times as quick a step is in `narrow` as in `wide`, and between which nine of ten such ratios
// should lie: what slows both down matters little.
struct Gain {
  double times = 1;
  double low = 1;
  double high = 1;
};
Gain gain_of(const Scenario& narrow, const Scenario& wide, const Profile& profile);

// Times as many examples a second as one worker alone.
double speedup(const Scenario& scenario, const Forecast& forecast);

// The bandwidth (bytes a second) of the links across machines, or within the only one there is, below which
// `narrow` is more than so many times as quick as `wide`; 0: it never is, infinity: it always is.
struct Comparison {
  const Scenario& narrow;
  const Scenario& wide;
};
double break_even(const Comparison& both, const Profile& profile, TrafficBook& book,
                  double times = 1);

}  // namespace narrowcast
