#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <vector>

#include "transport/join.hpp"
#include "transport/latch.hpp"
#include "transport/shm/inbox.hpp"
#include "transport/shm/mapping.hpp"
#include "transport/shm/outbox.hpp"
#include "transport/shm/watch.hpp"

namespace narrowcast::shm {

// One rank at work: moves bytes between its rings and the messages of its callers. There is no
// thread for that: those who wait do it, for all. One of them sleeps at the doorbell of the rank,
// the others on a condition variable until it has news.
class Engine {
 public:
  // Joins, and returns when all ranks have. Fault::peer names one that did not come in time.
  Engine(std::shared_ptr<Mapping> mapping, const Joining& joining);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  int rank() const { return rank_; }
  int size() const { return mapping_->ranks(); }

  void send(const Slot& to, Bytes message, const Stamp& stamp, Status& status);
  void cancel(int peer, const Status& status);
  void post(Posted& posted);
  void unpost(const Posted& posted);

  // Returns when `status`, of a message to or from `peer`, is done.
  void await(int peer, const Status& status);
  void poke();
  // Sends what has begun to leave, for as long as the timeout, and tells the others that this rank
  // has left. After that, whatever waits or comes fails.
  void close();

 private:
  using Lock = std::unique_lock<std::mutex>;
  using Clock = std::chrono::steady_clock;

  struct Peer {
    Peer(int number, const RingWriter& to, const RingReader& from, std::size_t& parked_bytes)
        : rank(number), outbox(to), inbox(number, from, parked_bytes) {}
    int rank;
    Outbox outbox;
    Inbox inbox;
    bool gone = false;  // it had left before the inbox was last looked at
  };

  void take_place();
  void meet();
  void leave();
  bool pass();
  bool serve(Peer& peer);
  bool spin(Lock& lock, const Status& status);
  void sleep(Lock& lock, std::chrono::nanoseconds at_most);
  void flush(Lock& lock);
  template <class Call>
  void latching(Call call);
  void fail(const Error& error);
  void give_up(const Verdict& verdict);
  void accuse(const Verdict& verdict);
  Error departure(int peer);
  Peer& peer(int rank) { return peers_[static_cast<std::size_t>(rank < rank_ ? rank : rank - 1)]; }
  Bell bell(int rank) const { return Bell(mapping_->page(rank).bell); }
  void ring_all() const;

  std::shared_ptr<Mapping> mapping_;
  int rank_;
  std::chrono::milliseconds timeout_;
  Latch latch_;

  std::mutex mutex_;  // of all that follows
  std::condition_variable news_;
  int listeners_ = 0;                  // threads that wait for news_
  bool driving_ = false;               // a thread is at the doorbell
  std::chrono::nanoseconds patience_;  // how long to spin
  std::size_t parked_bytes_ = 0;
  std::vector<Peer> peers_;

  Watch watch_;  // last: its thread reports to the rest
};

}  // namespace narrowcast::shm
