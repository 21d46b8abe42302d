#include "transport/shm/engine.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

namespace narrowcast::shm {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// News that come within this time cost less than going to sleep and being woken.
constexpr nanoseconds kLongestSpin = microseconds(50);
constexpr nanoseconds kShortestSpin = microseconds(2);
// Where ranks outnumber cores, the peer may be waiting for this very core.
constexpr int kYields = 3;
// A peer that scribbles over our doorbell may delay us, not stop us.
constexpr nanoseconds kLongestSleep = std::chrono::seconds(1);
// Dead processes are looked for so often while ranks join.
constexpr nanoseconds kJoinSleep = milliseconds(20);

bool outnumber_cores(int ranks) {
  return static_cast<unsigned>(ranks) > std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace

Engine::Engine(std::shared_ptr<Mapping> mapping, const Joining& joining)
    : mapping_(std::move(mapping)),
      rank_(joining.place.rank),
      timeout_(joining.timeout),
      patience_(outnumber_cores(mapping_->ranks()) ? nanoseconds(0) : kLongestSpin),
      watch_(*mapping_, rank_, timeout_) {
  peers_.reserve(static_cast<std::size_t>(size()));
  for (int other = 0; other < size(); ++other) {
    if (other == rank_) continue;
    const RingWriter to(mapping_->control(rank_, other), mapping_->ring(rank_, other),
                        {bell(other), other});
    const RingReader from(mapping_->control(other, rank_), mapping_->ring(other, rank_),
                          {bell(other), other});
    peers_.emplace_back(other, to, from, parked_bytes_);
  }
  take_place();
  try {
    meet();
  } catch (...) {
    leave();
    throw;
  }
  watch_.start([this](const Verdict& verdict) { give_up(verdict); });
}

void Engine::take_place() {
  RankPage& page = mapping_->page(rank_);
  std::int32_t nobody = 0;
  if (!page.pid.compare_exchange_strong(nobody, getpid()))
    throw Error(Fault::usage, fmt::format("shm: rank {} is taken by process {}", rank_, nobody));
  watch_.beat();
  page.presence.store(Presence::joined);
  ring_all();
}

void Engine::meet() {
  const auto deadline = Clock::now() + timeout_;
  const auto is_absent = [this](const Peer& peer) {
    return mapping_->page(peer.rank).presence.load() == Presence::absent;
  };
  for (;;) {
    bell(rank_).get_ready();
    const auto absent = std::ranges::find_if(peers_, is_absent);
    watch_.follow();
    if (absent == peers_.end()) break;
    if (const auto dead = watch_.find_dead()) throw Error(Fault::peer, watch_.describe(*dead));
    if (Clock::now() > deadline) {
      throw Error(Fault::peer, fmt::format("rank {} did not come within {:g} s", absent->rank,
                                           std::chrono::duration<double>(timeout_).count()));
    }
    watch_.beat();
    bell(rank_).sleep(kJoinSleep);
  }
  bell(rank_).stay_awake();
}

// What a peer did wrong is the fault of everything from now on; what the caller did wrong is his.
template <class Call>
void Engine::latching(Call call) {
  try {
    call();
  } catch (const Error& error) {
    if (error.fault() == Fault::usage) throw;
    fail(error);
  }
}

void Engine::send(const Slot& to, Bytes message, const Stamp& stamp, Status& status) {
  const Lock lock(mutex_);
  latch_.check();
  latching([&] { peer(to.peer).outbox.send(to, message, stamp, status); });
  latch_.check();
}

void Engine::cancel(int peer_rank, const Status& status) {
  const Lock lock(mutex_);
  peer(peer_rank).outbox.cancel(status);
}

void Engine::post(Posted& posted) {
  const Lock lock(mutex_);
  latch_.check();
  latching([&] { peer(posted.from.peer).inbox.post(posted); });
  latch_.check();
}

void Engine::unpost(const Posted& posted) {
  const Lock lock(mutex_);
  peer(posted.from.peer).inbox.unpost(posted);
}

void Engine::await(int peer_rank, const Status& status) {
  Lock lock(mutex_);
  while (!status.done) {
    latch_.check();
    if (pass() || latch_.failed()) continue;
    if (peer(peer_rank).gone) {
      fail(departure(peer_rank));
    } else if (driving_) {
      ++listeners_;
      news_.wait(lock);
      --listeners_;
    } else {
      driving_ = true;
      if (!spin(lock, status)) sleep(lock, kLongestSleep);
      driving_ = false;
      news_.notify_all();  // what the others wait for may be here, or one of them has to drive
    }
  }
}

void Engine::poke() {
  const Lock lock(mutex_, std::try_to_lock);
  if (lock.owns_lock()) pass();
}

void Engine::close() {
  {
    Lock lock(mutex_);
    flush(lock);
    latch_.fail(Error(Fault::usage, "the transport is gone"));
  }
  watch_.stop();
  leave();
}

void Engine::leave() {
  mapping_->page(rank_).presence.store(Presence::left);
  ring_all();
}

void Engine::flush(Lock& lock) {
  const auto deadline = Clock::now() + timeout_;
  const auto has_more = [](const Peer& peer) { return !peer.gone && !peer.outbox.empty(); };
  while (!latch_.failed() && std::ranges::any_of(peers_, has_more)) {
    const auto left = deadline - Clock::now();
    if (left <= nanoseconds(0)) return;
    if (!pass()) sleep(lock, std::min<nanoseconds>(left, kLongestSleep));
  }
}

// Gives every peer a turn. Returns whether anything changed that somebody may wait for.
bool Engine::pass() {
  bool moved = false;
  for (Peer& peer : peers_) {
    if (latch_.failed()) return false;
    latching([&] { moved |= serve(peer); });
  }
  if (moved) {
    if (listeners_ != 0) news_.notify_all();
    bell(rank_).ring();  // the one at the doorbell may be another thread than this
  }
  return moved;
}

bool Engine::serve(Peer& peer) {
  // Before the ring is looked at: what a rank sent before it left is in the ring by now.
  const bool gone = mapping_->page(peer.rank).presence.load() == Presence::left;
  bool moved = gone != peer.gone;
  peer.gone = gone;
  if (!peer.outbox.empty()) moved |= peer.outbox.push();
  moved |= peer.inbox.pull();
  return moved;
}

// Looks for news for a while before it is worth a sleep, longer where that was worth it lately.
bool Engine::spin(Lock& lock, const Status& status) {
  const auto look = [&] { return pass() || status.done || latch_.failed(); };
  if (outnumber_cores(size())) {
    for (int i = 0; i < kYields; ++i) {
      lock.unlock();
      std::this_thread::yield();
      lock.lock();
      if (look()) return true;
    }
    return false;
  }
  const auto deadline = Clock::now() + patience_;
  do {
    for (int i = 0; i < 16; ++i) {
      lock.unlock();
      lock.lock();
      if (look()) {
        patience_ = std::min(kLongestSpin, 2 * patience_);
        return true;
      }
    }
    std::this_thread::yield();
  } while (Clock::now() < deadline);
  patience_ = std::max(kShortestSpin, patience_ / 2);
  return false;
}

void Engine::sleep(Lock& lock, nanoseconds at_most) {
  Bell own = bell(rank_);
  own.get_ready();
  if (pass() || latch_.failed()) {
    own.stay_awake();
    return;
  }
  lock.unlock();
  own.sleep(at_most);
  lock.lock();
}

void Engine::fail(const Error& error) {
  latch_.fail(error);
  news_.notify_all();
  bell(rank_).wake();
}

void Engine::give_up(const Verdict& verdict) {
  const Lock lock(mutex_);
  accuse(verdict);
  fail(Error(Fault::peer, watch_.describe(verdict)));
}

void Engine::accuse(const Verdict& verdict) {
  RankPage& page = mapping_->page(rank_);
  page.accused.store(verdict.rank);
  page.reproach.store(verdict.reproach);
}

// Why a rank left that should have sent more: perhaps because it gave up on a third one, which is
// then the one to name.
Error Engine::departure(int peer_rank) {
  std::optional<Verdict> cause = watch_.find_dead();
  if (!cause) {
    const RankPage& page = mapping_->page(peer_rank);
    const Verdict theirs{page.accused.load(), page.reproach.load()};
    const bool says = theirs.reproach == Reproach::died || theirs.reproach == Reproach::silent;
    const bool is_third = theirs.rank >= 0 && theirs.rank < size() && theirs.rank != rank_;
    if (says && is_third) cause = theirs;
  }
  if (!cause) return {Fault::peer, fmt::format("rank {} left", peer_rank)};
  accuse(*cause);
  return {Fault::peer, watch_.describe(*cause)};
}

void Engine::ring_all() const {
  for (const Peer& peer : peers_) bell(peer.rank).ring();
}

}  // namespace narrowcast::shm
