#include "bench/collective_link.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <vector>

#include "bench/collective_expectation.hpp"
#include "bench/stopwatch.hpp"
#include "codec/parallel.hpp"

namespace narrowcast::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kPings = 10;
constexpr std::size_t kLarge = std::size_t{1} << 20;   // bytes
constexpr std::size_t kValues = std::size_t{1} << 16;  // for the codec
constexpr double kCodecSeconds = 0.01;

// The quickest round trip: so many bytes there, nothing back. Both ends call it.
double ping_us(Control& control, int peer, std::vector<std::byte>& bytes) {
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kPings; ++i) {
    const auto start = Clock::now();
    if (control.rank() == 0) {
      control.send(peer, bytes);
      control.receive(peer, {});
    } else {
      control.receive(0, bytes);
      control.send(0, {});
    }
    best = std::min(best, std::chrono::duration<double, std::micro>(Clock::now() - start).count());
  }
  return best;
}

LinkCost::Path measure_path(Control& control, int peer) {
  if (control.rank() != 0 && control.rank() != peer) return {};
  std::vector<std::byte> nothing;
  std::vector<std::byte> large(kLarge);
  const double there_and_back = ping_us(control, peer, nothing);
  const double loaded = ping_us(control, peer, large);
  return {.message_us = there_and_back / 2,
          .byte_us = std::max(0.0, loaded - there_and_back) / static_cast<double>(kLarge)};
}

void measure_codec(const Codec& codec, Team& team, LinkCost& cost) {
  std::vector<float> values(kValues);
  Inputs().draw(0, 0, values);
  std::vector<std::byte> wire(codec.max_bytes(kValues));
  std::vector<float> landing(kValues);
  std::size_t used = encode(codec, values, wire, {}, team);
  const std::array<Operation, 2> operations = {
      [&] { used = encode(codec, values, wire, {}, team); },
      [&] { decode(codec, Bytes(wire).first(used), landing, 0, team); }};
  const std::vector<double> nanoseconds = best_nanoseconds(operations, kCodecSeconds);
  cost.encode_us = nanoseconds[0] / 1e3 / static_cast<double>(kValues);
  cost.decode_us = nanoseconds[1] / 1e3 / static_cast<double>(kValues);
}

}  // namespace

LinkCost measure_link(Control& control, int local_ranks, const Codec& codec, Team& team) {
  const int neighbours = control.share(std::min(local_ranks, control.size()));
  LinkCost cost;
  if (neighbours > 1) cost.machine = measure_path(control, 1);
  if (neighbours < control.size()) cost.network = measure_path(control, neighbours);
  if (neighbours == 1) cost.machine = cost.network;
  if (neighbours == control.size()) cost.network = cost.machine;
  if (control.rank() == 0) measure_codec(codec, team, cost);
  return control.share(cost);
}

}  // namespace narrowcast::bench
