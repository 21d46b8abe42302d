#include "tests/support/carried_ranks.hpp"

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "transport/carried.hpp"

namespace narrowcast::test {
namespace {

using Frame = std::vector<std::byte>;

// The stream from one rank to another.
class Stream {
 public:
  void put(Bytes frame) {
    const std::lock_guard lock(mutex_);
    frames_.emplace_back(frame.begin(), frame.end());
    changed_.notify_all();
  }

  // Nothing when there will be no more.
  std::optional<Frame> get() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return closed_ || !frames_.empty(); });
    if (frames_.empty()) return std::nullopt;
    Frame frame = std::move(frames_.front());
    frames_.pop_front();
    return frame;
  }

  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Frame> frames_;
  bool closed_ = false;
};

using Streams = std::map<std::pair<int, int>, Stream>;  // by from and to

class Pumped final : public Transport {
 public:
  Pumped(std::shared_ptr<Streams> streams, const Carried::Options& options)
      : streams_(std::move(streams)), inner_(options) {
    for (int peer = 0; peer < size(); ++peer) {
      if (peer == rank()) continue;
      sending_.emplace_back([this, peer] { pump_out(peer); });
      receiving_.emplace_back([this, peer] { pump_in(peer); });
    }
  }

  ~Pumped() override {
    inner_.leave();
    for (std::thread& thread : sending_) thread.join();
    for (int peer = 0; peer < size(); ++peer) {
      if (peer == rank()) continue;
      stream(rank(), peer).close();
      stream(peer, rank()).close();
    }
    for (std::thread& thread : receiving_) thread.join();
  }
  Pumped(const Pumped&) = delete;
  Pumped& operator=(const Pumped&) = delete;

  int rank() const override { return inner_.rank(); }
  int size() const override { return inner_.size(); }

 private:
  class PassedOn final : public Transfer {
   public:
    explicit PassedOn(Ticket ticket) : ticket_(std::move(ticket)) {}
    Arrival wait() override { return ticket_.wait(); }

   private:
    Ticket ticket_;
  };

  std::unique_ptr<Transfer> do_send(const Slot& to, Bytes message, const Stamp& stamp) override {
    return std::make_unique<PassedOn>(inner_.send(to, message, stamp));
  }
  std::unique_ptr<Transfer> do_receive(const Slot& from, MutableBytes buffer) override {
    return std::make_unique<PassedOn>(inner_.receive(from, buffer));
  }

  Stream& stream(int from, int to) { return streams_->at({from, to}); }

  void pump_out(int peer) {
    while (const auto load = inner_.next(peer)) {
      stream(rank(), peer).put(load->frame);
      inner_.carried(peer, *load);
    }
  }

  void pump_in(int peer) {
    Frame posted(inner_.longest_frame());  // engines know no lengths
    while (const auto frame = stream(peer, rank()).get()) {
      copy(*frame, posted);
      if (!inner_.deliver(peer, posted)) return;
    }
    inner_.lost(peer, {});
  }

  std::shared_ptr<Streams> streams_;
  Carried inner_;
  std::vector<std::thread> sending_;
  std::vector<std::thread> receiving_;
};

Connect meet_with(int ranks, std::chrono::milliseconds timeout, std::size_t frame_bytes) {
  const auto streams = std::make_shared<Streams>();
  for (int from = 0; from < ranks; ++from)
    for (int to = 0; to < ranks; ++to) (*streams)[{from, to}];
  return [=](int rank) -> std::unique_ptr<Transport> {
    return std::make_unique<Pumped>(streams,
                                    Carried::Options{.place = {.rank = rank, .size = ranks},
                                                     .timeout = timeout,
                                                     .frame_bytes = frame_bytes});
  };
}

}  // namespace

Connect meet_carried(int ranks, std::chrono::milliseconds timeout) {
  return meet_with(ranks, timeout, 0);
}

Connect meet_narrow_carried(int ranks, std::chrono::milliseconds timeout) {
  return meet_with(ranks, timeout, 4096);
}

}  // namespace narrowcast::test
