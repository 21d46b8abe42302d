#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "transport/transport.hpp"

namespace narrowcast {

// What is done to the messages that a rank sends: probabilities, together at most one.
struct Mischief {
  std::uint64_t seed = 0;
  double drop = 0;      // it never leaves
  double delay = 0;     // send() stalls
  double truncate = 0;  // the end is cut off
  double flip = 0;      // one bit changes, of the message or of its stamp
  double repeat = 0;    // the message before it, of this peer and channel, goes in its place
  double kill = 0;      // this rank dies instead of sending it
  std::chrono::microseconds longest_delay{2000};
};

enum class Deed { none, drop, delay, truncate, flip, repeat, kill };

// What happens to a message of `rank`: the same in every run.
Deed deed_of(const Mischief& mischief, int rank, const Slot& to);

// Does it. A sender notices nothing, except of its own death: then every ticket, pending or new, is
// Fault::peer, and `inner` is destroyed as soon as no thread waits in it.
std::unique_ptr<Transport> faulty(std::unique_ptr<Transport> inner, const Mischief& mischief);

}  // namespace narrowcast
