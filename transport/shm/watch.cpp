#include "transport/shm/watch.hpp"

#include <fmt/core.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "base/error.hpp"

namespace narrowcast::shm {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr milliseconds kLongestInterval = std::chrono::seconds(1);

// One clock for all processes of the machine.
nanoseconds now() {
  timespec time = {};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return std::chrono::seconds(time.tv_sec) + nanoseconds(time.tv_nsec);
}

}  // namespace

Watch::Watch(const Mapping& mapping, int rank, milliseconds timeout)
    : mapping_(mapping),
      rank_(rank),
      timeout_(timeout),
      interval_(std::clamp(timeout / 4, milliseconds(1), kLongestInterval)),
      looked_(now()),
      stop_(eventfd(0, EFD_CLOEXEC)) {
  if (!stop_.is_open())
    throw Error(Fault::system, fmt::format("shm: no event descriptor: {}", std::strerror(errno)));
  for (int peer = 0; peer < mapping.ranks(); ++peer)
    if (peer != rank) peers_.push_back({.rank = peer, .process = {}, .heard = looked_});
}

void Watch::follow() {
  for (Peer& peer : peers_) {
    const RankPage& page = mapping_.page(peer.rank);
    if (peer.followed || page.presence.load() == Presence::absent) continue;
    peer.followed = true;
    peer.heard = now();
    const std::int32_t pid = page.pid.load();
    if (pid == getpid()) continue;
    peer.process = Descriptor(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
    if (peer.process.is_open() || page.presence.load() == Presence::left) continue;
    if (errno == ESRCH) throw Error(Fault::peer, describe({peer.rank, Reproach::died}));
    throw Error(Fault::system, fmt::format("shm: cannot follow rank {} (process {}): {}", peer.rank,
                                           pid, std::strerror(errno)));
  }
}

std::optional<Verdict> Watch::find_dead(milliseconds patience) const {
  std::vector<pollfd> ends = {{.fd = stop_.get(), .events = POLLIN, .revents = 0}};
  std::vector<int> ranks = {rank_};
  for (const Peer& peer : peers_) {
    // Who left may end; its descriptor would make poll() return all the time.
    if (!peer.process.is_open() || mapping_.page(peer.rank).presence.load() == Presence::left)
      continue;
    ends.push_back({.fd = peer.process.get(), .events = POLLIN, .revents = 0});
    ranks.push_back(peer.rank);
  }
  poll(ends.data(), ends.size(), static_cast<int>(patience.count()));
  for (std::size_t i = 1; i < ends.size(); ++i) {
    if (ends[i].revents != 0 && mapping_.page(ranks[i]).presence.load() != Presence::left)
      return Verdict{ranks[i], Reproach::died};
  }
  return std::nullopt;
}

std::optional<Verdict> Watch::find_silent() {
  const nanoseconds time = now();
  const nanoseconds absence = time - looked_ > 2 * interval_ ? time - looked_ : nanoseconds(0);
  looked_ = time;
  for (Peer& peer : peers_) {
    const RankPage& page = mapping_.page(peer.rank);
    const nanoseconds beat(page.beat.load());
    peer.heard = std::min(time, std::max(peer.heard + absence, beat));
    if (peer.followed && page.presence.load() == Presence::joined && time - peer.heard > timeout_)
      return Verdict{peer.rank, Reproach::silent};
  }
  return std::nullopt;
}

void Watch::beat() const { mapping_.page(rank_).beat.store(now().count()); }

std::string Watch::describe(const Verdict& verdict) const {
  if (verdict.reproach == Reproach::died) return fmt::format("rank {} died", verdict.rank);
  return fmt::format("rank {} has been silent for {:g} s", verdict.rank,
                     std::chrono::duration<double>(timeout_).count());
}

void Watch::start(std::function<void(const Verdict&)> report) {
  thread_ = std::thread([this, report = std::move(report)] { run(report); });
}

void Watch::stop() {
  if (!thread_.joinable()) return;
  eventfd_write(stop_.get(), 1);
  thread_.join();
}

bool Watch::is_stopped(milliseconds patience) const {
  pollfd stop = {.fd = stop_.get(), .events = POLLIN, .revents = 0};
  return poll(&stop, 1, static_cast<int>(patience.count())) > 0;
}

void Watch::run(const std::function<void(const Verdict&)>& report) {
  std::optional<Verdict> verdict;
  while (!verdict && !is_stopped({})) {
    beat();
    verdict = find_dead(interval_);
    if (!verdict) verdict = find_silent();
  }
  if (verdict) report(*verdict);
  // This rank lives on until it leaves, and nobody shall think otherwise.
  while (!is_stopped(interval_)) beat();
}

}  // namespace narrowcast::shm
