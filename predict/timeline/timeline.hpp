#pragma once

#include <vector>

#include "predict/forecast.hpp"

namespace narrowcast {

// By what the terms of a step are slower than the profile says.
struct Slower {
  double compute = 1;
  double network = 1;  // its bytes
  double machine = 1;  // bytes within one
  double latency = 1;
  double codec = 1;
  double stragglers = 1;
};

// A shipment in milliseconds, by what they are spent on.
struct Priced {
  double ready = 0;
  double encode = 0;
  double decode = 0;
  double near_bytes = 0;  // on links within a machine
  double far_bytes = 0;
  double near_latency = 0;
  double far_latency = 0;
  double transport_cpu = 0;
  double chunks = 1;
  bool waits = false;
  bool in_turn = false;  // first within machines, then across; else at once
};

// All that a step's time follows from.
struct Pricing {
  std::vector<Priced> shipments = {};
  double forward = 0;
  double backward = 0;
  double rest = 0;
  double straggling = 0;  // how much later the last of all workers is
  double control = 0;     // the round at the end
  double connected = 0;   // compute of fully connected layers
  int sub_batches = 1;
  double cores = 2;
};
Pricing price(const Scenario& scenario, const Loads& loads, const Profile& profile);

// Of a step.
struct Steps {
  double step = 0;
  double slowdown = 0;
  double waiting = 0;
  double straggling = 0;
  double encode = 0;
  double wire = 0;
  double decode = 0;
  double alone = 0;  // all shipments, one after the other
};
Steps timeline(const Pricing& pricing, const Slower& slower = {});

}  // namespace narrowcast
