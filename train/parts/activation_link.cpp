#include <fmt/format.h>

#include <array>
#include <chrono>

#include "base/error.hpp"
#include "train/parts/line.hpp"
#include "train/split_linear.hpp"

namespace narrowcast {
namespace {

using Clock = std::chrono::steady_clock;

const Way& checked(const Way& way, std::string_view what) {
  if (way.scaling != Scaling::none || way.feedback != Feedback::off)
    throw Error(
        Fault::usage,
        fmt::format("{} travel once and are not summed over steps: scaling and feedback are "
                    "for gradients",
                    what));
  return way;
}

}  // namespace

class ActivationLink::Lines {
 public:
  Lines(Transport& transport, std::uint32_t channel, const Way& activations, const Way& errors,
        std::uint64_t seed)
      : net(transport),
        forward(net, channel, activations, seed),
        backward(net, channel + 1, errors, seed),
        ahead(net, channel + 2, activations, seed),
        behind(net, channel + 3, errors, seed),
        exact(net, channel + 4, {}, seed) {}

  std::array<Line*, kChannels> all() { return {&forward, &backward, &ahead, &behind, &exact}; }

  // The caller stands still meanwhile.
  template <class Work>
  void stand_still(const Work& work) {
    const Clock::time_point start = Clock::now();
    work();
    wait_ms += std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  }

  template <class Transfer>
  void carry(const Transfer& transfer) {
    if (net.size() > 1) stand_still(transfer);
  }

  template <class Transfer>
  std::future<void> start(Line& line, Transfer transfer) {
    if (net.size() > 1) return line.start(std::move(transfer));
    std::promise<void> nothing;
    nothing.set_value();
    return nothing.get_future();
  }

  Transport& net;
  double wait_ms = 0;
  Line forward;
  Line backward;
  Line ahead;
  Line behind;
  Line exact;
};

ActivationLink::ActivationLink(Transport& net, std::uint32_t channel, const Way& activations,
                               const Way& errors, std::uint64_t seed)
    : lines_(std::make_unique<Lines>(net, channel, checked(activations, "activations"),
                                     checked(errors, "errors"), seed)) {}

ActivationLink::~ActivationLink() = default;

int ActivationLink::rank() const { return lines_->net.rank(); }
int ActivationLink::size() const { return lines_->net.size(); }

void ActivationLink::set_step(std::uint64_t step) {
  for (Line* line : lines_->all()) line->set_step(step);
}

void ActivationLink::gather_forward(const Parts& parts, const Cargo& cargo) {
  lines_->carry([&] { lines_->forward.gather(parts, cargo); });
}

void ActivationLink::gather_backward(const Parts& parts, const Cargo& cargo) {
  lines_->carry([&] { lines_->backward.gather(parts, cargo); });
}

void ActivationLink::sum_forward(MutableFloats values, const Cargo& cargo) {
  lines_->carry([&] { lines_->forward.sum(values, cargo); });
}

void ActivationLink::sum_backward(MutableFloats values, const Cargo& cargo) {
  lines_->carry([&] { lines_->backward.sum(values, cargo); });
}

void ActivationLink::scatter_backward(const Parts& parts, const Cargo& cargo) {
  lines_->carry([&] { lines_->backward.scatter(parts, cargo); });
}

void ActivationLink::gather_exactly(const Parts& parts) {
  lines_->carry([&] { lines_->exact.gather(parts, {}); });
}

ActivationLink::Underway ActivationLink::start_gather_backward(const Parts& parts,
                                                               const Cargo& cargo) {
  Line& line = lines_->backward;
  return {*this, lines_->start(line, [&line, parts, cargo] { line.gather(parts, cargo); })};
}

ActivationLink::Underway ActivationLink::start_sum_backward(MutableFloats values,
                                                            const Cargo& cargo) {
  Line& line = lines_->backward;
  return {*this, lines_->start(line, [&line, values, cargo] { line.sum(values, cargo); })};
}

ActivationLink::Underway ActivationLink::start_gather_ahead(const Parts& parts,
                                                            const Cargo& cargo) {
  Line& line = lines_->ahead;
  return {*this, lines_->start(line, [&line, parts, cargo] { line.gather(parts, cargo); })};
}

ActivationLink::Underway ActivationLink::start_scatter_behind(const Parts& parts,
                                                              const Cargo& cargo) {
  Line& line = lines_->behind;
  return {*this, lines_->start(line, [&line, parts, cargo] { line.scatter(parts, cargo); })};
}

ActivationLink::Costs ActivationLink::take_costs() {
  Costs costs = {.wait_ms = std::exchange(lines_->wait_ms, 0)};
  for (Line* line : lines_->all()) line->take_costs(costs);
  return costs;
}

ActivationLink::Underway::Underway(ActivationLink& link, std::future<void> done)
    : link_(&link), done_(std::move(done)) {}

ActivationLink::Underway::~Underway() {
  if (done_.valid()) done_.wait();
}

void ActivationLink::Underway::wait() {
  link_->lines_->stand_still([&] { done_.get(); });
}

}  // namespace narrowcast
