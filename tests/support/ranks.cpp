#include "tests/support/ranks.hpp"

#include <algorithm>
#include <exception>
#include <latch>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/carried_ranks.hpp"
#include "tests/support/gloo_ranks.hpp"
#include "transport/inproc.hpp"
#include "transport/shm.hpp"

namespace narrowcast::test {
namespace {

Connect meet_inproc(int ranks, std::chrono::milliseconds timeout) {
  const auto hub = std::make_shared<Hub>(ranks, timeout);
  return [hub](int rank) { return hub->connect(rank); };
}

Connect meet_shm_with(int ranks, std::chrono::milliseconds timeout, std::size_t ring_bytes) {
  const auto segment = std::make_shared<ShmSegment>(ranks, ring_bytes);
  return [segment, ranks, timeout](int rank) {
    Joining joining;
    joining.place = {rank, ranks, rank, ranks};
    joining.timeout = timeout;
    return join_shm(*segment, joining);
  };
}

Connect meet_shm(int ranks, std::chrono::milliseconds timeout) {
  return meet_shm_with(ranks, timeout, shm_ring_bytes(ranks));
}

// Messages of more than a page go through the ring in parts.
Connect meet_narrow_shm(int ranks, std::chrono::milliseconds timeout) {
  return meet_shm_with(ranks, timeout, kSmallestRing);
}

constexpr RanksRow kRanks[] = {
    {"inproc", meet_inproc},
    {"shm", meet_shm},
    {"narrow_shm", meet_narrow_shm},
    {"carried", meet_carried},
    {"narrow_carried", meet_narrow_carried},
    {"gloo", meet_gloo},  // the last, because it may be missing
};

}  // namespace

std::span<const RanksRow> every_ranks() {
  static const std::size_t missing = has_gloo() ? 0 : 1;
  return std::span(kRanks).first(std::size(kRanks) - missing);
}

const RanksRow& ranks_row(std::string_view name) {
  const auto row = std::ranges::find(every_ranks(), name, &RanksRow::name);
  if (row == every_ranks().end()) throw std::logic_error("no ranks named " + std::string(name));
  return *row;
}

void on_ranks(const Connect& connect, int ranks, const std::function<void(Transport&)>& body) {
  std::mutex mutex;
  std::exception_ptr first;
  // Whoever is refused in the body must not seem to refuse those that have not met yet.
  std::latch tried(ranks);
  const auto run = [&](int rank) {
    const auto keep_first = [&] {
      const std::lock_guard lock(mutex);
      if (!first) first = std::current_exception();
    };
    std::unique_ptr<Transport> net;  // outlives the catch: who fails first has not left yet
    try {
      net = connect(rank);
    } catch (...) {
      keep_first();
    }
    tried.arrive_and_wait();
    if (!net) return;
    try {
      body(*net);
    } catch (...) {
      keep_first();
    }
  };
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) threads.emplace_back(run, rank);
  for (std::thread& thread : threads) thread.join();
  if (first) std::rethrow_exception(first);
}

void on_ranks(const RanksRow& row, int ranks, const std::function<void(Transport&)>& body) {
  on_ranks(row.meet(ranks, kTestTimeout), ranks, body);
}

void on_ranks(int ranks, const std::function<void(Transport&)>& body) {
  on_ranks(ranks_row("inproc"), ranks, body);
}

}  // namespace narrowcast::test
