// How a link lets go: of single messages, and of all others.

#include <fmt/core.h>

#include <new>

#include "base/error.hpp"
#include "transport/modules/mpi_link.hpp"
#include "transport/modules/mpi_patience.hpp"

namespace narrowcast::mpi {
namespace {

// After a fault the others may be gone: what they still do, they do soon.
constexpr auto kGrace = std::chrono::seconds(1);

}  // namespace

// Makes progress until done() says so; false when that takes longer than it may. The turn is let go
// in between.
template <class Done>
bool Link::drive(Turn& turn, Done done) {
  const auto deadline = Clock::now() + timeout_;
  Patience patience(session_.spins());
  while (!session_.muted()) {
    progress();
    try {
      if (done()) return true;
    } catch (const std::exception& error) {
      fail(error);
    }
    const auto now = Clock::now();
    if (latch_.failed() && !grace_end_) grace_end_ = now + kGrace;
    if (now > deadline || (grace_end_ && now > *grace_end_)) return false;
    turn.unlock();
    patience.pause();
    turn = session_.turn();
  }
  return false;
}

template <class Item>
void Link::release_quietly(Item& item) noexcept {
  Turn turn = session_.turn();
  if (gone_) return;
  try {
    release(turn, item);
  } catch (const std::exception& error) {
    session_.mute();
    fail(error);
  }
}

void Link::give_up(Outgoing& out) noexcept { release_quietly(out); }
void Link::give_up(Incoming& in) noexcept { release_quietly(in); }

void Link::release(Turn& turn, Outgoing& out) {
  if (leaving_.find(&out) == leaving_.end() || session_.muted()) return;
  const int peer = out.to.peer;
  if (peers_.presence(peer) != Presence::left)
    frames_.send(peer, {.kind = Kind::withdrawn,
                        .channel = out.to.channel,
                        .tag = out.tag,
                        .sequence = out.to.sequence});
  // A peer that has left never took it, and never will.
  const auto done = [&] { return settled(out) || peers_.presence(peer) == Presence::left; };
  if (!drive(turn, done)) abandon(peer);
  leaving_.erase(&out);
}

void Link::release(Turn& turn, Incoming& in) {
  const auto wanted = wanted_.find(in.from);
  if (wanted != wanted_.end() && wanted->second == &in) wanted_.erase(wanted);
  if (arriving_.find(&in) == arriving_.end() || session_.muted()) return;
  if (!in.shelf.empty()) {
    forgotten_.push_back({.bytes = std::move(in.shelf), .payload = std::move(in.payload)});
  } else if (!drive(turn, [&] { return settled(in); }) && !in.payload.cancel_receive()) {
    abandon(in.from.peer);
  }
  arriving_.erase(&in);
}

void Link::abandon(int peer) {
  session_.mute();
  fail(Error(Fault::peer, fmt::format("rank {} neither takes nor brings what is under way", peer)));
}

void Link::leave() noexcept {
  Turn turn = session_.turn();
  try {
    while (!leaving_.empty() && !session_.muted()) release(turn, **leaving_.begin());
    while (!arriving_.empty() && !session_.muted()) release(turn, **arriving_.begin());
    std::erase_if(parked_, [this](auto& entry) {
      const bool here = !entry.second.bytes.empty();
      if (here) forgotten_.push_back(std::move(entry.second));
      return here;
    });
    if (!session_.muted()) say_goodbye(turn);
  } catch (const std::exception&) {  // MPI is in a bad way, and nobody is left to be told
    session_.mute();
  }
  frames_.abandon();
  // Memory that MPI may still write to outlives us.
  if (!forgotten_.empty()) static_cast<void>(new (std::nothrow) auto(std::move(forgotten_)));
  if (!sink_.empty()) static_cast<void>(new (std::nothrow) auto(std::move(sink_)));
  latch_.fail(Error(Fault::usage, "this transport has been closed"));
  gone_ = true;
}

// Those who stay answer, and whoever leaves at the same time says so: when all have been heard, no
// frame is under way to us, and all of ours have arrived.
void Link::say_goodbye(Turn& turn) {
  leaving_everybody_ = true;
  for (int peer = 0; peer < size_; ++peer)
    if (peer != rank_ && peers_.presence(peer) != Presence::left)
      frames_.send(peer, {.kind = Kind::left});
  drive(turn,
        [&] { return peers_.all_know() && frames_.idle() && forgotten_.empty() && drained(); });
  if (!session_.muted()) frames_.close();
}

}  // namespace narrowcast::mpi
