#include "transport/modules/mpi_peers.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace narrowcast::mpi {

Peers::Peers(int rank, int size, std::chrono::milliseconds timeout)
    : rank_(rank), timeout_(timeout), asked_(Clock::now()), peers_(size) {
  heard_all(asked_);
  peers_[rank].knows = true;
}

void Peers::heard_all(Clock::time_point now) {
  for (Peer& peer : peers_) peer.heard = now;
}

void Peers::failed(int peer, std::string why) {
  peers_[peer].presence = Presence::failed;
  peers_[peer].why = std::move(why);
}

bool Peers::all_know() const {
  return std::ranges::all_of(
      peers_, [](const Peer& peer) { return peer.knows || peer.presence == Presence::left; });
}

std::optional<Error> Peers::silent(Clock::time_point now) {
  if (now - asked_ > timeout_ / 2) heard_all(now);
  asked_ = now;
  for (int peer = 0; peer < static_cast<int>(peers_.size()); ++peer) {
    if (peer == rank_ || presence(peer) == Presence::left || silence(peer, now) <= timeout_)
      continue;
    return absent(peer);
  }
  return std::nullopt;
}

Error Peers::absent(int peer) const {
  const auto fault = [](std::string text) { return Error(Fault::peer, text); };
  switch (presence(peer)) {
    case Presence::here:
      break;
    case Presence::failed:
      return fault(fmt::format("rank {} failed: {}", peer, peers_[peer].why));
    case Presence::left:
      return fault(fmt::format("rank {} left", peer));
  }
  return fault(fmt::format("rank {} has been silent for {:g} s", peer,
                           std::chrono::duration<double>(timeout_).count()));
}

std::chrono::milliseconds Peers::interval() const {
  return std::min<std::chrono::milliseconds>(std::chrono::seconds(1), timeout_ / 4);
}

}  // namespace narrowcast::mpi
