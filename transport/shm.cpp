#include "transport/shm.hpp"

#include <fcntl.h>
#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <charconv>

#include "base/error.hpp"
#include "transport/shm/engine.hpp"
#include "transport/shm/mapping.hpp"

namespace narrowcast {
namespace {

constexpr std::size_t kMostBytes = std::size_t{512} << 20;
constexpr std::size_t kLargestRing = std::size_t{1} << 20;
constexpr std::size_t kSmallestDefaultRing = std::size_t{64} << 10;

class Sending final : public Transfer {
 public:
  Sending(std::shared_ptr<shm::Engine> engine, int peer)
      : engine_(std::move(engine)), peer_(peer) {}
  ~Sending() override { engine_->cancel(peer_, status_); }
  Sending(const Sending&) = delete;
  Sending& operator=(const Sending&) = delete;

  shm::Status& status() { return status_; }

  Arrival wait() override {
    engine_->await(peer_, status_);
    return status_.arrival;
  }

 private:
  std::shared_ptr<shm::Engine> engine_;
  int peer_;
  shm::Status status_;
};

class Receiving final : public Transfer {
 public:
  Receiving(std::shared_ptr<shm::Engine> engine, const Slot& from, MutableBytes buffer)
      : engine_(std::move(engine)), posted_{.from = from, .buffer = buffer} {}
  ~Receiving() override { engine_->unpost(posted_); }
  Receiving(const Receiving&) = delete;
  Receiving& operator=(const Receiving&) = delete;

  shm::Posted& posted() { return posted_; }

  Arrival wait() override {
    engine_->await(posted_.from.peer, posted_.status);
    return posted_.status.arrival;
  }

 private:
  std::shared_ptr<shm::Engine> engine_;
  shm::Posted posted_;
};

class Shm final : public Transport {
 public:
  explicit Shm(std::shared_ptr<shm::Engine> engine) : engine_(std::move(engine)) {}
  ~Shm() override { engine_->close(); }
  Shm(const Shm&) = delete;
  Shm& operator=(const Shm&) = delete;

  int rank() const override { return engine_->rank(); }
  int size() const override { return engine_->size(); }
  void poke() override { engine_->poke(); }

 private:
  std::unique_ptr<Transfer> do_send(const Slot& to, Bytes message, const Stamp& stamp) override {
    auto sending = std::make_unique<Sending>(engine_, to.peer);
    engine_->send(to, message, stamp, sending->status());
    return sending;
  }

  std::unique_ptr<Transfer> do_receive(const Slot& from, MutableBytes buffer) override {
    auto receiving = std::make_unique<Receiving>(engine_, from, buffer);
    engine_->post(receiving->posted());
    return receiving;
  }

  std::shared_ptr<shm::Engine> engine_;  // tickets may outlive the transport
};

int descriptor_of(const std::string& rendezvous) {
  constexpr std::string_view kScheme = "fd:";
  int fd = -1;
  const char* const end = rendezvous.data() + rendezvous.size();
  if (rendezvous.starts_with(kScheme)) {
    const auto [stop, error] = std::from_chars(rendezvous.data() + kScheme.size(), end, fd);
    if (error != std::errc() || stop != end) fd = -1;
  }
  if (fd < 0) {
    throw Error(Fault::usage,
                fmt::format("shm meets at fd:N, a segment handed down by whoever starts the ranks, "
                            "not at '{}': use --workers",
                            rendezvous));
  }
  return fd;
}

std::unique_ptr<Transport> join(std::shared_ptr<shm::Mapping> mapping, const Joining& joining) {
  const Place& place = joining.place;
  if (place.size != mapping->ranks()) {
    throw Error(Fault::usage, fmt::format("shm: the segment is for {} ranks, not {}",
                                          mapping->ranks(), place.size));
  }
  if (place.rank < 0 || place.rank >= place.size)
    throw Error(Fault::usage, fmt::format("shm: no rank {} among {}", place.rank, place.size));
  return std::make_unique<Shm>(std::make_shared<shm::Engine>(std::move(mapping), joining));
}

}  // namespace

std::size_t shm_ring_bytes(int ranks) {
  const auto size = static_cast<std::size_t>(std::clamp(ranks, 1, kMostShmRanks));
  const std::size_t share = std::bit_floor(kMostBytes / (size * size));
  return std::clamp(share, kSmallestDefaultRing, kLargestRing);
}

ShmSegment::ShmSegment(int ranks) : ShmSegment(ranks, shm_ring_bytes(ranks)) {}

ShmSegment::ShmSegment(int ranks, std::size_t ring_bytes)
    : segment_(shm::make_segment(ranks, ring_bytes)),
      mapping_(std::make_shared<shm::Mapping>(segment_.get())) {}

std::string ShmSegment::rendezvous() const { return fmt::format("fd:{}", fd()); }

std::unique_ptr<Transport> join_shm(const Joining& joining) {
  const int fd = descriptor_of(joining.rendezvous);
  auto mapping = std::make_shared<shm::Mapping>(fd);
  fcntl(fd, F_SETFD, FD_CLOEXEC);  // programs that a rank starts have no business with it
  return join(std::move(mapping), joining);
}

std::unique_ptr<Transport> join_shm(const ShmSegment& segment, const Joining& joining) {
  return join(segment.mapping(), joining);
}

}  // namespace narrowcast
