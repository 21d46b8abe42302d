#include "transport/sealed.hpp"

#include <fmt/core.h>

#include <map>
#include <mutex>
#include <utility>

#include "base/error.hpp"
#include "transport/latch.hpp"
#include "transport/sealing/envelope.hpp"
#include "transport/sealing/greeting.hpp"
#include "transport/wrapper.hpp"

namespace narrowcast {
namespace {

class Sealed final : public Wrapper {
 public:
  explicit Sealed(std::unique_ptr<Transport> inner)
      : Wrapper(std::move(inner)), envelope_(sealing::checksum_envelope({rank(), size()})) {}

  // Before anybody shares it.
  void use_key(sealing::KeyBytes session, Secrecy secrecy) {
    envelope_ = sealing::keyed_envelope({rank(), size()}, session, secrecy);
  }

  void check() const { latch_.check(); }

  void open(const Slot& from, MutableBytes message, const Stamp& stamp) {
    if (envelope_->open(from, message, stamp)) return;
    latch_.fail(Error(Fault::wire,
                      fmt::format("a message of rank {} {} (channel {}, message {})", from.peer,
                                  envelope_->complaint(), from.channel, from.sequence)));
    latch_.check();
  }

 private:
  std::unique_ptr<Transfer> do_send(const Slot& to, Bytes message, const Stamp& stamp) override;
  std::unique_ptr<Transfer> do_receive(const Slot& from, MutableBytes buffer) override;

  void take_sequence(const Slot& to) {
    const std::lock_guard lock(mutex_);
    const auto [place, first] = taken_.try_emplace({to.peer, to.channel}, to.sequence);
    if (!first && to.sequence <= place->second)
      throw Error(Fault::usage,
                  fmt::format("message {} to rank {} on channel {} comes after message {}",
                              to.sequence, to.peer, to.channel, place->second));
    place->second = to.sequence;
  }

  std::unique_ptr<sealing::Envelope> envelope_;
  Latch latch_;
  std::mutex mutex_;
  std::map<std::pair<int, Channel>, std::uint64_t> taken_;  // the last sequence that was sent
};

class Sending final : public Transfer {
 public:
  Sending(const Sealed& sealed, std::size_t length, std::unique_ptr<std::byte[]> written,
          Ticket ticket)
      : sealed_(sealed),
        length_(length),
        written_(std::move(written)),
        ticket_(std::move(ticket)) {}

  Arrival wait() override {
    sealed_.check();
    ticket_.wait();
    return {length_, {}};
  }

 private:
  const Sealed& sealed_;
  std::size_t length_;
  std::unique_ptr<std::byte[]> written_;
  Ticket ticket_;  // below the bytes it sends, so that it goes first
};

class Receiving final : public Transfer {
 public:
  Receiving(Sealed& sealed, const Slot& from, MutableBytes buffer, Ticket ticket)
      : sealed_(sealed), from_(from), buffer_(buffer), ticket_(std::move(ticket)) {}

  Arrival wait() override {
    sealed_.check();
    const Arrival arrival = ticket_.wait();
    sealed_.check();
    sealed_.open(from_, buffer_.first(arrival.length), arrival.stamp);
    return {arrival.length, {}};
  }

 private:
  Sealed& sealed_;
  Slot from_;
  MutableBytes buffer_;
  Ticket ticket_;
};

std::unique_ptr<Transfer> Sealed::do_send(const Slot& to, Bytes message, const Stamp& stamp) {
  require(stamp == Stamp{}, Fault::usage, "a sealed transport needs the stamps itself");
  latch_.check();
  take_sequence(to);
  sealing::Closed closed = envelope_->close(to, message);
  Ticket ticket = inner().send(to, closed.message, closed.stamp);
  return std::make_unique<Sending>(*this, message.size(), std::move(closed.written),
                                   std::move(ticket));
}

std::unique_ptr<Transfer> Sealed::do_receive(const Slot& from, MutableBytes buffer) {
  latch_.check();
  return std::make_unique<Receiving>(*this, from, buffer, inner().receive(from, buffer));
}

}  // namespace

Sealing::~Sealing() {
  if (key) sealing::wipe(*key);
}

std::unique_ptr<Transport> seal(std::unique_ptr<Transport> inner, const Sealing& how) {
  sealing::start_sodium();
  auto sealed = std::make_unique<Sealed>(std::move(inner));
  if (const std::optional<sealing::Secret> session = sealing::greet(*sealed, how)) {
    sealed->use_key(session->bytes(), how.secrecy);
    sealing::confirm(*sealed);
  }
  return sealed;
}

}  // namespace narrowcast
