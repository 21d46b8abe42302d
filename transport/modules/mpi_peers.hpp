#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace narrowcast::mpi {

using Clock = std::chrono::steady_clock;

enum class Presence {
  here,
  failed,  // it has given up, but may still be letting go of our buffers
  left,    // it touches nothing any more
};

// What is known of the other ranks: who is there, and since when each has been silent.
class Peers {
 public:
  Peers(int rank, int size, std::chrono::milliseconds timeout);

  Presence presence(int peer) const { return peers_[peer].presence; }

  void heard(int peer, Clock::time_point now) { peers_[peer].heard = now; }
  void heard_all(Clock::time_point now);
  void failed(int peer, std::string why);
  void left(int peer) { peers_[peer].presence = Presence::left; }

  // It knows that we leave. So does one that has left itself.
  void noted(int peer) { peers_[peer].knows = true; }
  bool all_know() const;

  // How long ago `peer` was heard.
  Clock::duration silence(int peer, Clock::time_point now) const {
    return now - peers_[peer].heard;
  }

  // The fault of a rank that is silent though it has not left, if there is one. To be asked
  // regularly, when everything that has arrived has been looked at: after a long pause of our own
  // nobody is to blame.
  std::optional<Error> silent(Clock::time_point now);

  // The fault of waiting for this peer, which is not here or not there in time.
  Error absent(int peer) const;

  // How often each rank lets the others hear of it.
  std::chrono::milliseconds interval() const;

 private:
  struct Peer {
    Presence presence = Presence::here;
    bool knows = false;
    Clock::time_point heard;
    std::string why;  // it failed
  };

  int rank_;
  std::chrono::milliseconds timeout_;
  Clock::time_point asked_;
  std::vector<Peer> peers_;
};

}  // namespace narrowcast::mpi
