#include "transport/inproc.hpp"

#include <fmt/core.h>

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <vector>

#include "base/error.hpp"
#include "transport/copied.hpp"
#include "transport/latch.hpp"

namespace narrowcast {
namespace {

using Key = std::tuple<int, Channel, std::uint64_t>;  // from, channel, sequence

Key key_of(int from, const Slot& slot) { return {from, slot.channel, slot.sequence}; }

// A receive that somebody waits for. Written by the sender, under the lock of the box it is in.
struct Posted {
  MutableBytes buffer;
  Arrival arrival = {};
  bool done = false;
};

struct Parked {
  std::vector<std::byte> message;
  Stamp stamp;
};

// Everything on its way to one rank.
struct Box {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<Key, Posted*> posted;
  std::map<Key, Parked> parked;
  Latch latch;  // of the rank that the box belongs to
};

Error too_long(int from, const Slot& slot, std::size_t length, std::size_t room) {
  return {Fault::wire, fmt::format("rank {} sent {} bytes where {} fit (channel {}, message {})",
                                   from, length, room, slot.channel, slot.sequence)};
}

}  // namespace

struct Hub::Shared {
  explicit Shared(int ranks, std::chrono::milliseconds patience)
      : timeout(patience), boxes(ranks), left(ranks) {}

  std::chrono::milliseconds timeout;
  std::vector<Box> boxes;               // by destination
  std::vector<std::atomic<bool>> left;  // by rank
};

namespace {

class Receiving final : public Transfer {
 public:
  Receiving(Hub::Shared& shared, int rank, const Slot& from, MutableBytes buffer)
      : shared_(shared), box_(shared.boxes[rank]), from_(from), posted_{.buffer = buffer} {
    const std::lock_guard lock(box_.mutex);
    const Key key = key_of(from.peer, from);
    if (const auto found = box_.parked.find(key); found != box_.parked.end()) {
      take(found->second);
      box_.parked.erase(found);
    } else {
      require(box_.posted.emplace(key, &posted_).second, Fault::usage,
              "inproc: two receives for one message");
    }
  }

  ~Receiving() override {
    const std::lock_guard lock(box_.mutex);
    unpost();
  }
  Receiving(const Receiving&) = delete;
  Receiving& operator=(const Receiving&) = delete;

  Arrival wait() override {
    std::unique_lock lock(box_.mutex);
    const auto deadline = std::chrono::steady_clock::now() + shared_.timeout;
    while (!posted_.done && !box_.latch.failed()) {
      // Looked at under the lock: what a rank sent before it left is in the box by now.
      if (shared_.left[from_.peer])
        fail(fmt::format("rank {} left", from_.peer));
      else if (box_.changed.wait_until(lock, deadline) == std::cv_status::timeout && !posted_.done)
        fail(fmt::format("rank {} has been silent for {:g} s", from_.peer,
                         std::chrono::duration<double>(shared_.timeout).count()));
    }
    unpost();
    if (!posted_.done) box_.latch.check();
    return posted_.arrival;
  }

 private:
  void take(const Parked& message) {
    if (message.message.size() > posted_.buffer.size()) {
      box_.latch.fail(too_long(from_.peer, from_, message.message.size(), posted_.buffer.size()));
      box_.changed.notify_all();
      return;
    }
    copy(message.message, posted_.buffer);
    posted_.arrival = {message.message.size(), message.stamp};
    posted_.done = true;
  }

  void fail(const std::string& what) {
    box_.latch.fail(Error(Fault::peer, what));
    box_.changed.notify_all();
  }

  void unpost() {
    const auto found = box_.posted.find(key_of(from_.peer, from_));
    if (found != box_.posted.end() && found->second == &posted_) box_.posted.erase(found);
  }

  Hub::Shared& shared_;
  Box& box_;
  Slot from_;
  Posted posted_;
};

class Inproc final : public Transport {
 public:
  Inproc(Hub::Shared& shared, int rank) : shared_(shared), rank_(rank) {}

  ~Inproc() override {
    shared_.left[rank_] = true;
    for (Box& box : shared_.boxes) {
      const std::lock_guard lock(box.mutex);
      box.changed.notify_all();
    }
  }
  Inproc(const Inproc&) = delete;
  Inproc& operator=(const Inproc&) = delete;

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(shared_.boxes.size()); }

 private:
  std::unique_ptr<Transfer> do_send(const Slot& to, Bytes message, const Stamp& stamp) override {
    const Latch& own = shared_.boxes[rank_].latch;
    own.check();
    Box& box = shared_.boxes[to.peer];
    const Key key = key_of(rank_, to);
    const std::lock_guard lock(box.mutex);
    if (const auto found = box.posted.find(key); found != box.posted.end()) {
      deliver(box, to, *found->second, message, stamp);
      box.posted.erase(found);
    } else {
      box.parked.try_emplace(key, Parked{{message.begin(), message.end()}, stamp});
    }
    return std::make_unique<Copied>(own, Arrival{message.size(), stamp});
  }

  void deliver(Box& box, const Slot& to, Posted& posted, Bytes message, const Stamp& stamp) const {
    if (message.size() > posted.buffer.size()) {
      box.latch.fail(too_long(rank_, to, message.size(), posted.buffer.size()));
    } else {
      copy(message, posted.buffer);
      posted.arrival = {message.size(), stamp};
      posted.done = true;
    }
    box.changed.notify_all();
  }

  std::unique_ptr<Transfer> do_receive(const Slot& from, MutableBytes buffer) override {
    shared_.boxes[rank_].latch.check();
    return std::make_unique<Receiving>(shared_, rank_, from, buffer);
  }

  Hub::Shared& shared_;
  int rank_;
};

}  // namespace

Hub::Hub(int ranks, std::chrono::milliseconds timeout)
    : shared_(std::make_unique<Shared>(ranks, timeout)) {}

Hub::~Hub() = default;

int Hub::size() const { return static_cast<int>(shared_->boxes.size()); }

std::unique_ptr<Transport> Hub::connect(int rank) {
  return std::make_unique<Inproc>(*shared_, rank);
}

}  // namespace narrowcast
