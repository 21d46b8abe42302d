#include "transport/counting.hpp"

#include <fmt/core.h>

#include "base/error.hpp"

namespace narrowcast {

Sent& Sent::operator+=(const Sent& other) {
  messages += other.messages;
  bytes += other.bytes;
  return *this;
}

class Counting::Receiving final : public Transfer {
 public:
  Receiving(Counting& counting, int peer, Ticket ticket)
      : counting_(counting), peer_(peer), ticket_(std::move(ticket)) {}

  Arrival wait() override {
    const Arrival arrival = ticket_.wait();
    counting_.count(counting_.received_, peer_, arrival.length);
    return arrival;
  }

 private:
  Counting& counting_;
  int peer_;
  Ticket ticket_;
};

Counting::Counting(std::unique_ptr<Transport> inner)
    : Wrapper(std::move(inner)), sent_(size()), received_(size()) {}

Sent Counting::sent() const { return total(sent_); }
Sent Counting::sent(int peer) const { return one(sent_, peer); }
Sent Counting::received() const { return total(received_); }
Sent Counting::received(int peer) const { return one(received_, peer); }

void Counting::reset() {
  const std::lock_guard lock(mutex_);
  sent_.assign(sent_.size(), {});
  received_.assign(received_.size(), {});
}

std::unique_ptr<Transfer> Counting::do_send(const Slot& to, Bytes message, const Stamp& stamp) {
  Ticket ticket = inner().send(to, message, stamp);
  count(sent_, to.peer, message.size());
  return std::make_unique<PassedOn>(std::move(ticket));
}

std::unique_ptr<Transfer> Counting::do_receive(const Slot& from, MutableBytes buffer) {
  return std::make_unique<Receiving>(*this, from.peer, inner().receive(from, buffer));
}

void Counting::count(std::vector<Sent>& side, int peer, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  side[peer] += {.messages = 1, .bytes = bytes};
}

Sent Counting::total(const std::vector<Sent>& side) const {
  const std::lock_guard lock(mutex_);
  Sent sum;
  for (const Sent& each : side) sum += each;
  return sum;
}

Sent Counting::one(const std::vector<Sent>& side, int peer) const {
  if (peer < 0 || peer >= size())
    throw Error(Fault::usage, fmt::format("there is no rank {} among {}", peer, size()));
  const std::lock_guard lock(mutex_);
  return side[peer];
}

}  // namespace narrowcast
