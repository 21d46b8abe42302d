#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "transport/wrapper.hpp"

namespace narrowcast {

// Messages and the bytes in them; stamps and whatever a transport adds are not counted.
struct Sent {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  bool operator==(const Sent&) const = default;
  Sent& operator+=(const Sent& other);
};

// Counts what passes between this rank and the others. A message has left when send() took it, and
// has arrived when somebody waited for it.
class Counting final : public Wrapper {
 public:
  explicit Counting(std::unique_ptr<Transport> inner);

  Sent sent() const;
  Sent sent(int peer) const;
  Sent received() const;
  Sent received(int peer) const;
  void reset();

 private:
  class Receiving;
  std::unique_ptr<Transfer> do_send(const Slot& to, Bytes message, const Stamp& stamp) override;
  std::unique_ptr<Transfer> do_receive(const Slot& from, MutableBytes buffer) override;
  void count(std::vector<Sent>& side, int peer, std::size_t bytes);
  Sent total(const std::vector<Sent>& side) const;
  Sent one(const std::vector<Sent>& side, int peer) const;

  mutable std::mutex mutex_;
  std::vector<Sent> sent_;  // by peer
  std::vector<Sent> received_;
};

}  // namespace narrowcast
