// `auto`: what each algorithm declares, priced by what the link costs.
#include <algorithm>
#include <limits>

#include "base/error.hpp"
#include "collective/cost.hpp"

namespace narrowcast {
namespace {

double cost_of(const Phase& phase, const LinkCost& cost) {
  const LinkCost::Path& path = phase.level == Level::machine ? cost.machine : cost.network;
  const double wire = static_cast<double>(phase.rounds) * path.message_us +
                      static_cast<double>(phase.bytes) * path.byte_us;
  const double work = static_cast<double>(phase.encoded) * cost.encode_us +
                      static_cast<double>(phase.decoded) * cost.decode_us;
  return std::max(wire, work);  // they overlap
}

bool can(const AllReduceRow& row, Pieces pieces, const Reduction& how) {
  try {
    check(row, pieces, how);
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

std::size_t Traffic::messages() const {
  std::size_t sum = 0;
  for (const Phase& phase : phases) sum += phase.messages;
  return sum;
}

std::size_t Traffic::bytes() const {
  std::size_t sum = 0;
  for (const Phase& phase : phases) sum += phase.bytes;
  return sum;
}

double cost_us(const Traffic& traffic, const LinkCost& cost) {
  double sum = 0;
  for (const Phase& phase : traffic.phases) sum += cost_of(phase, cost);
  return sum;
}

double estimate_us(const AllReduceRow& row, Pieces pieces, const Reduction& how,
                   const LinkCost& cost, int ranks) {
  double slowest = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    slowest = std::max(slowest, cost_us(row.traffic(pieces, how, rank, ranks), cost));
  }
  return slowest;
}

const AllReduceRow& choose_all_reduce(Pieces pieces, const Reduction& how, const LinkCost& cost,
                                      int ranks) {
  const AllReduceRow* best = nullptr;
  double least = std::numeric_limits<double>::infinity();
  for (const AllReduceRow& row : all_reduces()) {
    if (!can(row, pieces, how)) continue;
    const double time = estimate_us(row, pieces, how, cost, ranks);
    if (time < kClearlyQuicker * least) {
      best = &row;
      least = time;
    }
  }
  require(best != nullptr, Fault::usage, "no all-reduce can do what is asked");
  return *best;
}

}  // namespace narrowcast
