#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "transport/shm/outbox.hpp"
#include "transport/shm/ring.hpp"
#include "transport/transport.hpp"

namespace narrowcast::shm {

// A receive that has been posted.
struct Posted {
  Slot from;
  MutableBytes buffer;
  Status status = {};
};

// Messages that came before anybody asked for them are kept on the heap, up to so many bytes: a
// rank that sends more than that ahead of its peer is out of step with it.
inline constexpr std::size_t kMostParked = std::size_t{1} << 30;

// What comes through the ring from one peer. Not thread-safe. Fault::wire, naming the peer, is
// thrown for what does not fit and for what is no message.
class Inbox {
 public:
  // `parked_bytes` is shared by the inboxes of a rank.
  Inbox(int peer, const RingReader& ring, std::size_t& parked_bytes);

  // Its status is done when the bytes are in its buffer; it may be at once.
  void post(Posted& posted);
  void unpost(const Posted& posted);
  // Moves some of what came. Returns whether anything moved.
  bool pull();

 private:
  using Key = std::pair<Channel, std::uint64_t>;

  struct Parked {
    MessageHeader header;
    std::unique_ptr<std::byte[]> bytes;
  };

  // The message that is coming through the ring now.
  struct Current {
    MessageHeader header;
    std::size_t got = 0;
    std::byte* to = nullptr;  // nowhere: what nobody wants any more is skipped
    Posted* posted = nullptr;
  };

  void check_fits(const MessageHeader& header, const Posted& posted) const;
  void begin();
  void park(const MessageHeader& header);
  void move_part(std::size_t part);
  void finish();

  int peer_;
  RingReader ring_;
  std::size_t& parked_bytes_;
  std::optional<Current> current_;
  std::map<Key, Posted*> posted_;
  std::map<Key, Parked> parked_;
};

}  // namespace narrowcast::shm
