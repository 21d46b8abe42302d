#pragma once

#include "predict/profile.hpp"
#include "run/run.hpp"
#include "transport/transport.hpp"

namespace narrowcast {

// What a rank has around it while it trains.
struct Surroundings {
  Transport& net;
  Listener& listener;  // told on rank 0 only
  using Asked = std::function<bool()>;
  Asked asked;  // whether this process has been asked to stop
};

// Trains on this rank, by the module that has libtorch in it. One that is not there is Fault::usage,
// saying what to install.
void train(const Run& run, const Surroundings& around);

// What a rank computes in a step of data parallelism, measured while all ranks compute and none sends.
struct Measuring {
  const Run& run;
  Transport& net;
  Channel channel = 0;  // number of a conversation that nobody else has, before or after
  double seconds = 1;   // about
};
// Equal on all ranks.
MeasuredModel measure(const Measuring& measuring);

// Whether there is one.
bool can_train();
void require_trainer();  // Fault::usage, as train() has it

// What the module exports as `narrowcast_train`, extern "C".
using ModuleTrain = void (*)(const Run& run, const Surroundings& around, const char* version);
// And as `narrowcast_measure`.
using ModuleMeasure = void (*)(const Measuring& measuring, MeasuredModel& result,
                               const char* version);

}  // namespace narrowcast
