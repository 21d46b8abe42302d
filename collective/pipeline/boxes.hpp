#pragma once

#include <cstddef>
#include <deque>
#include <vector>

#include "collective/pipeline/packing.hpp"

namespace narrowcast {

// Buffers of equal size for messages under way.
struct Buffers {
  std::byte* memory = nullptr;
  std::size_t bytes = 0;  // of each
  std::size_t count = 0;

  MutableBytes at(std::size_t index) const { return {memory + index % count * bytes, bytes}; }
};

// Encoded messages that leave, in a ring of buffers; a buffer is used again when all its sends are
// done.
class Outbox {
 public:
  Outbox(Conversation& group, int lane, const Buffers& buffers)
      : group_(group), lane_(lane), buffers_(buffers), tickets_(buffers.count) {}

  // The next buffer, once it is free.
  MutableBytes next();
  // The same for bytes that lie elsewhere, and stay as they are until they have left.
  void lend(Bytes message);
  // Sends the first `bytes` of what next() returned or lend() took; to several peers if need be.
  void send(int peer, std::size_t bytes) { send(peer, bytes, lane_); }
  void send(int peer, std::size_t bytes, int lane);
  // Returns when everything has left.
  void drain();

 private:
  void finish(std::vector<Ticket>& tickets);

  Conversation& group_;
  int lane_;
  Buffers buffers_;
  std::vector<std::vector<Ticket>> tickets_;  // by buffer
  Bytes message_;                             // the last one
  std::size_t used_ = 0;
};

// Messages that are expected, in the order they will be asked for. As many receives are posted as
// there are buffers, so that senders need not wait for us.
class Inbox {
 public:
  // `hold`: how many of the last messages may still be on their way on, where they are passed on.
  Inbox(Conversation& group, int lane, const Buffers& buffers, std::size_t hold = 0)
      : group_(group), lane_(lane), buffers_(buffers), hold_(hold), passed_(buffers.count) {}

  // One more; at most `bytes` long.
  void expect(int peer, std::size_t bytes);
  // One more, that goes straight to where it belongs.
  void expect_into(int peer, MutableBytes place);
  // The first that is still expected, once it is here. Valid until release().
  Message next();
  // Sends the last message on, as it came; its buffer is used again when that is done.
  void pass_on(int peer, int lane);
  // Nobody reads these messages any more. To be called before anything that may block: receives can
  // be posted into their buffers, which others may be waiting for.
  void release();
  // Returns when everything that was passed on has left.
  void drain();

 private:
  struct Expected {
    int peer = 0;
    std::size_t bytes = 0;
    MutableBytes place;  // none: one of the buffers
  };
  struct Posted {
    std::size_t buffer = 0;
    int peer = 0;
    Ticket ticket;
    MutableBytes bytes;
  };
  void post();
  void finish(std::size_t buffer);

  Conversation& group_;
  int lane_;
  Buffers buffers_;
  std::size_t hold_;
  std::vector<std::vector<Ticket>> passed_;  // by buffer
  std::deque<Expected> expected_;
  std::deque<Posted> posted_;
  Posted last_;
  Bytes message_;
  std::size_t used_ = 0;
  std::size_t lent_ = 0;  // messages that the caller reads
};

// What a box asks of the scratch memory: so many messages of the largest size.
struct Demand {
  std::size_t least = 0;
  std::size_t best = 0;
};

// Shares out scratch memory: every box gets its best while all of it fits into one encoded copy of
// the pieces and two chunks of the size that was asked for, else all go down to their least alike.
std::vector<Buffers> share(Conversation& group, const Layout& layout,
                           std::span<const Demand> demands, std::size_t allowance);

}  // namespace narrowcast
