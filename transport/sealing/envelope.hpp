#pragma once

#include <memory>
#include <string_view>

#include "transport/join.hpp"
#include "transport/sealing/keys.hpp"
#include "transport/transport.hpp"

namespace narrowcast::sealing {

// Where this rank stands, as every seal knows it.
struct Standing {
  int rank = 0;
  int size = 1;
};

struct Closed {
  Bytes message;  // the caller's own, or `written`
  Stamp stamp;
  std::unique_ptr<std::byte[]> written;
};

// Closes what leaves and opens what comes, one message at a time. Threads may share it.
class Envelope {
 public:
  virtual ~Envelope() = default;
  virtual Closed close(const Slot& to, Bytes message) const = 0;
  // False when the message is not the one that the peer closed for this slot.
  virtual bool open(const Slot& from, MutableBytes message, const Stamp& stamp) const = 0;
  // What is wrong with a message that does not open.
  virtual std::string_view complaint() const = 0;
};

// XXH3 over the message, seeded by its slot and its length.
std::unique_ptr<Envelope> checksum_envelope(const Standing& own);

// ChaCha20-Poly1305 with a key for each direction and the slot as nonce; `authentic` leaves the
// message readable. Never close two messages for one slot.
std::unique_ptr<Envelope> keyed_envelope(const Standing& own, KeyBytes session, Secrecy secrecy);

}  // namespace narrowcast::sealing
