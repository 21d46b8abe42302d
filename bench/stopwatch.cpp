#include "bench/stopwatch.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <limits>

namespace narrowcast::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kBatch = 1e6;  // nanoseconds: long for the clock, short between two interruptions
constexpr int kLeastTurns = 3;
constexpr double kMostCalls = 1e6;

double since(Clock::time_point start) {
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

double time_of(const Operation& operation, std::size_t calls) {
  const auto start = Clock::now();
  for (std::size_t i = 0; i < calls; ++i) operation();
  return since(start) / static_cast<double>(calls);
}

struct Contestant {
  const Operation& operation;
  std::size_t calls;  // in a batch
  double best = std::numeric_limits<double>::infinity();

  void take_turn() {
    // The others have filled the caches; what is measured in batches is the warm state.
    if (calls > 1) operation();
    best = std::min(best, time_of(operation, calls));
  }
};

Contestant contestant(const Operation& operation) {
  operation();
  const double once = std::max(time_of(operation, 1), 1.0);
  return {operation, static_cast<std::size_t>(std::clamp(kBatch / once, 1.0, kMostCalls))};
}

}  // namespace

std::vector<double> best_nanoseconds(std::span<const Operation> operations, double seconds) {
  std::vector<Contestant> contestants;
  for (const Operation& operation : operations) contestants.push_back(contestant(operation));

  const double enough = seconds * 1e9 * static_cast<double>(operations.size());
  const auto start = Clock::now();
  for (int turn = 0; turn < kLeastTurns || since(start) < enough; ++turn)
    for (Contestant& each : contestants) each.take_turn();

  std::vector<double> best;
  for (const Contestant& each : contestants) best.push_back(each.best);
  return best;
}

}  // namespace narrowcast::bench
