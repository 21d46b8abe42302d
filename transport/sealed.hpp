#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "base/version.hpp"
#include "transport/join.hpp"
#include "transport/transport.hpp"

namespace narrowcast {

// How the messages of a job are kept from harm; equal on all its ranks.
struct Sealing {
  std::optional<JobKey> key;  // without one, checksums
  Secrecy secrecy = Secrecy::authentic;
  std::string_view version = narrowcast::version();  // that this rank says it runs

  ~Sealing();  // wipes the key
};

// What comes through it is what the peer sent for that slot, whole and unaltered; anything else is
// Fault::wire and names the rank. Without a key that holds against accidents: an XXH3 checksum over
// the message, its length and its slot. With a key it holds against everybody who lacks the key:
// docs/security.md.
//
// All ranks seal at the same time: they greet each other here, and a rank with another key, another
// version or another sealing is refused (Fault::peer, on every rank that sees it). A sequence
// number that is not larger than the one before on its peer and channel is Fault::usage, because
// under a key it would give away the key of that message.
//
// A thread that waits inside `inner` while another finds a bad message gets to know when `inner`
// returns.
std::unique_ptr<Transport> seal(std::unique_ptr<Transport> inner, const Sealing& how);

}  // namespace narrowcast
