#pragma once

#include <list>
#include <memory>

#include "transport/shm/ring.hpp"
#include "transport/transport.hpp"

namespace narrowcast::shm {

// One message on its way into a ring, or to a buffer; done once and then never touched again.
struct Status {
  Arrival arrival = {};
  bool done = false;
};

// What waits for room in the ring to one peer, in the order sent. Not thread-safe.
class Outbox {
 public:
  explicit Outbox(const RingWriter& ring) : ring_(ring) {}

  // `status` is done when the bytes are in the ring; it may be at once.
  void send(const Slot& to, Bytes message, const Stamp& stamp, Status& status);
  // Forgets a message that has not begun to leave; one that has is finished from a copy.
  void cancel(const Status& status);
  // Moves what fits. Returns whether anything moved; throws Fault::wire.
  bool push();
  bool empty() const { return queue_.empty(); }

 private:
  struct Outgoing {
    MessageHeader header;
    Bytes rest;
    Status* status;
    bool begun = false;
    std::unique_ptr<std::byte[]> kept;  // the bytes of a cancelled message that had begun
  };

  bool push(Outgoing& message);

  RingWriter ring_;
  std::list<Outgoing> queue_;
};

}  // namespace narrowcast::shm
