// One worker's step, event by event: gradients are made in order, buffers leave one after the other as
// soon as they are full and the one before has arrived, and where a core does both, each slows the other
// down. Workers are alike, so one stands for all.
#include "predict/timeline/timeline.hpp"

#include <algorithm>

namespace narrowcast {
namespace {

// Of a core that computes, what communication gets at most when it has work: it runs in two threads,
// one that encodes and one of the transport, beside the one that computes.
constexpr double kShare = 2.0 / 3;

// Of a shipment, in milliseconds.
struct Cost {
  double encode = 0;
  double wire = 0;
  double decode = 0;
  double cpu = 0;    // of the core that computes
  double alone = 0;  // from beginning to end, when nothing else runs
};

Cost cost_of(const Priced& priced, const Slower& slower) {
  const double near = priced.near_bytes * slower.machine + priced.near_latency * slower.latency;
  const double far = priced.far_bytes * slower.network + priced.far_latency * slower.latency;
  Cost cost{.encode = priced.encode * slower.codec,
            .wire = priced.in_turn ? near + far : std::max(near, far),
            .decode = priced.decode * slower.codec};
  cost.cpu = cost.encode + cost.decode + priced.transport_cpu;
  cost.alone = std::max(cost.wire, cost.cpu) + std::min(cost.wire, cost.cpu) / priced.chunks;
  return cost;
}

// Back-propagation and the buffers, from its beginning.
class Backward {
 public:
  Backward(double length, double cores)
      : length_(length), spare_(std::clamp(cores - 1, 0.0, 1.0)) {}

  void carry(double ready, const Cost& cost) {
    compute_until(std::min(ready, length_));
    const double busy = cost.alone > 0 ? cost.cpu / cost.alone : 0;  // of a core
    const double share = std::min(busy, std::max(kShare, spare_));
    const double quickness = busy > 0 ? share / busy : 1;  // of the buffer, while computing goes on
    const double computing = 1 - std::max(0.0, share - spare_);
    const double together = std::min(cost.alone / quickness, (length_ - made_) / computing);
    now_ += together;
    advance(together * computing);
    now_ += std::max(0.0, cost.alone - together * quickness);
    carried_ = now_;
  }

  void finish() { compute_until(length_); }

  double computed() const { return computed_; }  // when the last gradient was made
  double carried() const { return carried_; }    // when the last buffer had arrived

 private:
  void compute_until(double point) {
    if (point <= made_) return;
    now_ += point - made_;
    advance(point - made_);
  }
  void advance(double by) {
    if (by <= 0) return;
    made_ = std::min(length_, made_ + by);
    computed_ = now_;
  }

  double length_;
  double spare_;  // of a core, beside the one that computes
  double now_ = 0;
  double made_ = 0;  // of back-propagation, in time that it takes alone
  double computed_ = 0;
  double carried_ = 0;
};

// Activations that computing waits for. In sub-batches, those of one travel while the next computes.
double standing_ms(double alone, const Pricing& pricing, double compute) {
  const double parts = std::max(1, pricing.sub_batches);
  const double hidden = pricing.connected * compute * (parts - 1) / parts;
  return std::max(alone / parts, alone - hidden);
}

}  // namespace

Steps timeline(const Pricing& pricing, const Slower& slower) {
  Backward backward(pricing.backward * slower.compute, pricing.cores);
  double standing = 0;
  Steps steps;
  for (const Priced& priced : pricing.shipments) {
    const Cost cost = cost_of(priced, slower);
    steps.encode += cost.encode;
    steps.wire += cost.wire;
    steps.decode += cost.decode;
    steps.alone += cost.alone;
    if (priced.waits)
      standing += cost.alone;
    else
      backward.carry(priced.ready * slower.compute, cost);
  }
  backward.finish();
  standing = standing_ms(standing, pricing, slower.compute);
  steps.straggling = pricing.straggling * slower.stragglers * slower.compute;
  steps.slowdown = backward.computed() - pricing.backward * slower.compute;
  steps.waiting = std::max(0.0, backward.carried() - backward.computed()) +
                  pricing.control * slower.latency + standing;
  steps.step = (pricing.forward + pricing.rest) * slower.compute + backward.computed() +
               steps.waiting + steps.straggling;
  return steps;
}

}  // namespace narrowcast
