#include "transport/shaped.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "transport/latch.hpp"
#include "transport/wrapper.hpp"

namespace narrowcast {
namespace {

using Clock = std::chrono::steady_clock;

struct Parcel {
  Slot to;
  std::vector<std::byte> message;
  Stamp stamp;
  Clock::time_point departure = {};
  Clock::time_point arrival = {};
  std::atomic<bool> withdrawn = false;  // its ticket was destroyed before it left
};

class Shaped final : public Wrapper {
 public:
  Shaped(std::unique_ptr<Transport> inner, const Shape& shape)
      : Wrapper(std::move(inner)),
        shape_(shape),
        courier_([this] { carry(); }),
        clerk_([this] { complete(); }) {}

  // What was sent still arrives, and no earlier than it should.
  ~Shaped() override {
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
    }
    changed_.notify_all();
    courier_.join();
    {
      const std::lock_guard lock(mutex_);
      all_posted_ = true;
    }
    changed_.notify_all();
    clerk_.join();
  }
  Shaped(const Shaped&) = delete;
  Shaped& operator=(const Shaped&) = delete;

  void fail(const Error& error) {
    latch_.fail(error);
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
  }

  void wait_for_departure(const Parcel& parcel) {
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, parcel.departure, [&] { return latch_.failed(); });
    latch_.check();
  }

 private:
  std::unique_ptr<Transfer> do_send(const Slot& to, Bytes message, const Stamp& stamp) override;

  std::unique_ptr<Transfer> do_receive(const Slot& from, MutableBytes buffer) override;

  Clock::duration time_on_link(std::size_t bytes) const {
    const std::chrono::duration<double> seconds(static_cast<double>(bytes) /
                                                shape_.bytes_per_second);
    return std::chrono::ceil<Clock::duration>(seconds);
  }

  // Hands parcels to the inner transport when they are due; equal latency keeps them in order.
  void carry() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return closing_ || !queue_.empty(); });
      if (queue_.empty()) return;
      const std::shared_ptr<Parcel> parcel = queue_.front();
      changed_.wait_until(lock, parcel->arrival,
                          [&] { return latch_.failed() || (closing_ && parcel->withdrawn); });
      queue_.pop_front();
      if (latch_.failed() || parcel->withdrawn) continue;
      lock.unlock();
      post(parcel);
      lock.lock();
    }
  }

  void post(const std::shared_ptr<Parcel>& parcel) {
    try {
      Ticket ticket = inner().send(parcel->to, parcel->message, parcel->stamp);
      const std::lock_guard lock(mutex_);
      posted_.push_back({parcel, std::move(ticket)});
      changed_.notify_all();
    } catch (const Error& error) {
      fail(error);
    }
  }

  // Keeps parcels until the inner transport is done with them. Not the courier's work: a receiver
  // that is late for one message must not hold up those for others.
  void complete() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return all_posted_ || !posted_.empty(); });
      if (posted_.empty()) return;
      Posted oldest = std::move(posted_.front());
      posted_.pop_front();
      lock.unlock();
      try {
        oldest.ticket.wait();
      } catch (const Error& error) {
        fail(error);
      }
      lock.lock();
    }
  }

  struct Posted {
    std::shared_ptr<Parcel> parcel;
    Ticket ticket;  // below the parcel, so that it goes first
  };

  Shape shape_;
  Latch latch_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Clock::time_point link_free_ = {};  // when the last parcel so far departs
  std::deque<std::shared_ptr<Parcel>> queue_;
  std::deque<Posted> posted_;
  bool closing_ = false;
  bool all_posted_ = false;
  std::thread courier_;
  std::thread clerk_;
};

class Leaving final : public Transfer {
 public:
  Leaving(Shaped& link, std::shared_ptr<Parcel> parcel) : link_(link), parcel_(std::move(parcel)) {}
  ~Leaving() override {
    if (!left_) parcel_->withdrawn = true;
  }
  Leaving(const Leaving&) = delete;
  Leaving& operator=(const Leaving&) = delete;

  Arrival wait() override {
    link_.wait_for_departure(*parcel_);
    left_ = true;
    return {parcel_->message.size(), parcel_->stamp};
  }

 private:
  Shaped& link_;
  std::shared_ptr<Parcel> parcel_;
  bool left_ = false;
};

// A fault that comes with a receive is one of the sends, too.
class Coming final : public Transfer {
 public:
  Coming(Shaped& link, Ticket ticket) : link_(link), ticket_(std::move(ticket)) {}

  Arrival wait() override {
    try {
      return ticket_.wait();
    } catch (const Error& error) {
      link_.fail(error);
      throw;
    }
  }

 private:
  Shaped& link_;
  Ticket ticket_;
};

std::unique_ptr<Transfer> Shaped::do_receive(const Slot& from, MutableBytes buffer) {
  return std::make_unique<Coming>(*this, inner().receive(from, buffer));
}

std::unique_ptr<Transfer> Shaped::do_send(const Slot& to, Bytes message, const Stamp& stamp) {
  latch_.check();
  const auto parcel = std::make_shared<Parcel>();
  parcel->to = to;
  parcel->message.assign(message.begin(), message.end());
  parcel->stamp = stamp;
  {
    const std::lock_guard lock(mutex_);
    link_free_ = std::max(Clock::now(), link_free_) + time_on_link(message.size());
    parcel->departure = link_free_;
    parcel->arrival = link_free_ + shape_.latency;
    queue_.push_back(parcel);
  }
  changed_.notify_all();
  return std::make_unique<Leaving>(*this, parcel);
}

}  // namespace

std::unique_ptr<Transport> shaped(std::unique_ptr<Transport> inner, const Shape& shape) {
  require(shape.bytes_per_second >= 1, Fault::usage, "a link carries at least one byte per second");
  require(shape.latency >= shape.latency.zero(), Fault::usage, "a latency cannot be negative");
  return std::make_unique<Shaped>(std::move(inner), shape);
}

}  // namespace narrowcast
