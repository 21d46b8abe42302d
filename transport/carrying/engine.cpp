#include "transport/carrying/engine.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace narrowcast {
namespace {

using namespace std::chrono_literals;
using framing::Header;
using framing::Kind;

constexpr auto kLongestFarewell = 10s;  // for peers to take what is on its way to them
constexpr auto kShortFarewell = 500ms;  // the same after a fault

// A farewell goes in one piece.
constexpr std::size_t kShortestFrame = sizeof(Header) + framing::kLongestText;

}  // namespace

Carried::Engine::Engine(const Options& options)
    : place_(options.place),
      frame_bytes_(options.frame_bytes != 0 ? options.frame_bytes
                                            : framing::frame_bytes(options.place.size)),
      excused_(Clock::now()) {
  if (place_.rank < 0 || place_.rank >= place_.size)
    throw Error(Fault::usage, fmt::format("no rank {} among {}", place_.rank, place_.size));
  if (frame_bytes_ < kShortestFrame)
    throw Error(Fault::usage, fmt::format("frames of {} bytes are too short: {} are the least",
                                          frame_bytes_, kShortestFrame));
  faults_.timeout = options.timeout;
  faults_.wake_all = [this] { wake_all(); };
  peers_.resize(place_.size);
  for (int peer = 0; peer < place_.size; ++peer) {
    if (peer == place_.rank) continue;
    peers_[peer] = std::make_unique<Peer>(faults_, peer, frame_bytes_);
  }
  monitor_ = std::thread([this] { monitor(); });
}

Carried::Engine::~Engine() {
  leave();
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  monitor_.join();
}

template <class Call>
void Carried::Engine::each(Call call) {
  for (int peer = 0; peer < place_.size; ++peer)
    if (peer != place_.rank) call(peer, *peers_[peer]);
}

void Carried::Engine::wake_all() {
  each([](int, Peer& peer) {
    peer.inbox->wake();
    peer.lane.wake();
  });
  const std::lock_guard lock(mutex_);
  changed_.notify_all();
}

void Carried::Engine::send(const Slot& to, Bytes message, const Stamp& stamp) {
  if (lane(to.peer).send(to, message, stamp)) return;
  // Somebody has woken us, or the peer is gone: one who waits for it is told why.
  framing::Receipt never = {.from = {.peer = to.peer}, .buffer = {}};
  inbox(to.peer)->wait(never);
}

bool Carried::Engine::deliver(int from, Bytes frame) {
  Peer& peer = *peers_[from];
  try {
    const auto take_one = [&](const Header& header, Bytes payload) { take(from, header, payload); };
    if (!carrying::read_records(frame, peer.taken, take_one))
      throw Error(Fault::wire, fmt::format("rank {} sent bytes that are no frame", from));
    peer.last_heard = Clock::now();
    ++peer.taken;
    peer.inbox->make_room();
  } catch (const Error& error) {
    faults_.fail(error);
    end(from);
  }
  const std::lock_guard lock(mutex_);
  return !peer.gone && !knows(peer);
}

// Whether that peer has heard our farewell: then it sends nothing more. Under the lock.
bool Carried::Engine::knows(const Peer& peer) {
  return peer.farewell && peer.heard >= *peer.farewell;
}

void Carried::Engine::take(int from, const Header& header, Bytes payload) {
  Peer& peer = *peers_[from];
  switch (header.kind) {
    case Kind::message:
      peer.inbox->take(header, payload);
      return;
    case Kind::alive: {
      peer.heard = std::max<std::uint64_t>(peer.heard, header.sequence);
      const std::lock_guard lock(mutex_);
      changed_.notify_all();
      return;
    }
    case Kind::left:
    case Kind::failed:
      hear_farewell(from, header, payload);
      return;
  }
  throw Error(Fault::wire, fmt::format("rank {} sent a frame of unknown kind", from));
}

void Carried::Engine::hear_farewell(int from, const Header& header, Bytes text) {
  lane(from).acknowledge(peers_[from]->taken + 1);
  // Others may still have something for us: only who waits for this one is told.
  end(from, header.kind == Kind::failed
                ? fmt::format("rank {} gave up: {}", from, framing::printable(text))
                : std::string());
}

void Carried::Engine::lost(int from, std::string_view why) {
  lane(from).drop();
  if (peers_[from]->gone.exchange(true)) return;
  bool ours = false;
  {
    const std::lock_guard lock(mutex_);
    ours = left_;
  }
  if (!ours)
    faults_.fail(Error(Fault::peer, why.empty() ? fmt::format("rank {} died", from)
                                                : fmt::format("rank {} died: {}", from, why)));
  end(from);
}

void Carried::Engine::end(int from, std::string why) {
  peers_[from]->gone = true;
  peers_[from]->inbox->end(std::move(why));
  lane(from).close();
  const std::lock_guard lock(mutex_);
  changed_.notify_all();
}

// Sends heartbeats, looks who has sent none, and tells everybody of a fault.
void Carried::Engine::monitor() {
  const auto period = std::min<Clock::duration>(1s, faults_.timeout / 4);
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    const auto expected = Clock::now() + period;
    changed_.wait_until(lock, expected,
                        [&] { return stopping_ || (faults_.noticed_here && !left_); });
    const auto now = Clock::now();
    // This process itself stood still: nobody else is late.
    if (now > expected + period) excused_ = now;
    lock.unlock();
    if (faults_.noticed_here) tell_farewell();
    look(now);
    lock.lock();
    if (left_ || faults_.latch.failed())
      changed_.wait_until(lock, expected, [&] { return stopping_; });
  }
}

void Carried::Engine::look(Clock::time_point now) {
  bool leaving = false;
  {
    const std::lock_guard lock(mutex_);
    leaving = left_;
  }
  const std::chrono::duration<double> seconds = faults_.timeout;
  each([&](int number, Peer& peer) {
    if (peer.gone) return;
    peer.lane.beat(peer.taken);
    if (leaving || faults_.latch.failed()) return;
    const auto silent = now - std::max(peer.last_heard.load(), excused_);
    if (silent >= faults_.timeout && !peer.inbox->crowded())
      faults_.fail(Error(
          Fault::peer, fmt::format("rank {} has been silent for {:g} s", number, seconds.count())));
    const auto waiting = peer.lane.waiting_since();
    if (waiting && now - std::max(*waiting, excused_) >= faults_.timeout)
      faults_.fail(Error(Fault::peer, fmt::format("rank {} has taken nothing for {:g} s", number,
                                                  seconds.count())));
  });
}

// Once, to each peer that is still there.
void Carried::Engine::tell_farewell() {
  std::string why;
  try {
    faults_.latch.check();
  } catch (const Error& error) {
    why = error.what();
  }
  const std::lock_guard lock(mutex_);
  if (std::exchange(left_, true)) return;
  each([&](int, Peer& peer) {
    peer.farewell = peer.lane.farewell(why.empty() ? Kind::left : Kind::failed, why);
  });
}

// What this rank has sent still arrives: the connections stand until everybody has said so.
void Carried::Engine::leave() {
  const bool failed = faults_.latch.failed();
  tell_farewell();
  const auto patience = std::min<Clock::duration>(
      failed ? Clock::duration(kShortFarewell) : kLongestFarewell, faults_.timeout);
  {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, patience, [this] {
      return std::ranges::all_of(
          peers_, [](const auto& peer) { return !peer || peer->gone || knows(*peer); });
    });
  }
  faults_.fail_by_hearsay(Error(Fault::usage, "this rank has left"));
  each([](int, Peer& peer) { peer.lane.end(); });
}

}  // namespace narrowcast
