#include "bench/collective_control.hpp"

#include <fmt/core.h>

#include "base/error.hpp"

namespace narrowcast::bench {
namespace {

// Lanes.
constexpr int kBarrier = 0;
constexpr int kGathered = 1;
constexpr int kShared = 2;
constexpr int kBetweenTwo = 3;

}  // namespace

// In round k every rank hears from the one 2^k before it, so after log2(size) rounds from all.
void Control::barrier() {
  for (int distance = 1; distance < size(); distance *= 2) {
    Ticket out = group_.net().send(group_.next_to((rank() + distance) % size(), kBarrier), {});
    group_.net()
        .receive(group_.next_from((rank() + size() - distance) % size(), kBarrier), {})
        .wait();
    out.wait();
  }
}

void Control::gather_bytes(Bytes own, MutableBytes all) {
  if (rank() != 0) {
    group_.net().send(group_.next_to(0, kGathered), own).wait();
    return;
  }
  for (int peer = 1; peer < size(); ++peer) {
    const MutableBytes place = all.subspan(static_cast<std::size_t>(peer) * own.size(), own.size());
    group_.net().receive(group_.next_from(peer, kGathered), place).wait();
  }
}

void Control::share_bytes(MutableBytes bytes) {
  if (rank() != 0) {
    group_.net().receive(group_.next_from(0, kShared), bytes).wait();
    return;
  }
  std::vector<Ticket> tickets;
  for (int peer = 1; peer < size(); ++peer)
    tickets.push_back(group_.net().send(group_.next_to(peer, kShared), bytes));
  for (Ticket& ticket : tickets) ticket.wait();
}

void Control::send(int peer, Bytes bytes) {
  group_.net().send(group_.next_to(peer, kBetweenTwo), bytes).wait();
}

void Control::receive(int peer, MutableBytes bytes) {
  const Arrival arrival = group_.net().receive(group_.next_from(peer, kBetweenTwo), bytes).wait();
  if (arrival.length != bytes.size())
    throw Error(Fault::wire, fmt::format("rank {} sent {} bytes where {} were expected", peer,
                                         arrival.length, bytes.size()));
}

}  // namespace narrowcast::bench
