#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/bytes.hpp"

// The face of this room: moves bytes between ranks. It knows no float and no codec.
namespace narrowcast {

using Channel = std::uint32_t;

// Channels from here on belong to transports and their wrappers: heartbeats, handshakes.
inline constexpr Channel kFirstReservedChannel = 0xffff'0000;

// Which message. On one (peer, channel) every message that is sent takes a larger sequence number
// than the one before; receives may be posted in any order.
struct Slot {
  int peer = 0;
  Channel channel = 0;
  std::uint64_t sequence = 0;
  bool operator==(const Slot&) const = default;
};

// Sixteen bytes that travel beside every message, for wrappers: a checksum or an authenticator.
using Stamp = std::array<std::byte, 16>;

struct Arrival {
  std::size_t length = 0;  // of the message that came, or that was sent
  Stamp stamp = {};
};

// A message under way, as a transport implements it. Its destructor cancels: the caller's buffer is
// not touched from then on.
class Transfer {
 public:
  virtual ~Transfer() = default;
  // Returns when a receive has its bytes, or when a sent buffer may be used again. Throws
  // Fault::peer, naming the rank, when that rank is dead or silent, and Fault::wire when what came
  // does not fit. Called at most once.
  virtual Arrival wait() = 0;
};

// What send() and receive() return. The buffer must outlive it; destroying it cancels, so an error
// may unwind the stack past any number of them. Waiting needs the transport to be alive still.
class Ticket {
 public:
  Ticket() = default;
  explicit Ticket(std::unique_ptr<Transfer> transfer) : transfer_(std::move(transfer)) {}

  bool pending() const { return transfer_ != nullptr; }

  // Once; after that the ticket is spent and no longer pending.
  Arrival wait() {
    const std::unique_ptr<Transfer> transfer = std::move(transfer_);
    return transfer ? transfer->wait() : Arrival{};
  }

 private:
  std::unique_ptr<Transfer> transfer_;
};

inline constexpr std::chrono::milliseconds kDefaultTimeout = std::chrono::minutes(5);

// One rank's connection to all others. Threads may share it. After one fault every ticket, pending
// or new, fails at once with that fault. Destroying it tells the peers that this rank has left;
// what it has sent still arrives, and whoever goes on waiting for more gets Fault::peer.
class Transport {
 public:
  Transport() = default;
  virtual ~Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  // Peers are other ranks: a message to oneself is refused (Fault::usage).
  [[nodiscard]] Ticket send(const Slot& to, Bytes message, const Stamp& stamp = {});

  // `buffer` has room for the largest message that may come; Arrival says what came. A longer one
  // is Fault::wire.
  [[nodiscard]] Ticket receive(const Slot& from, MutableBytes buffer);

  // Moves bytes, on transports that have no thread of their own for that. Those who compute for
  // long between messages call it now and then; it never blocks.
  virtual void poke() {}

  // The engine's own sum of float32 over all ranks: a yardstick, not a way to train. Refused
  // (Fault::usage) by transports that have none.
  virtual void engine_all_reduce(MutableFloats values);

 private:
  // Peer and buffer have been checked.
  virtual std::unique_ptr<Transfer> do_send(const Slot& to, Bytes message, const Stamp& stamp) = 0;
  virtual std::unique_ptr<Transfer> do_receive(const Slot& from, MutableBytes buffer) = 0;
};

}  // namespace narrowcast
