#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "transport/framing/inbox.hpp"
#include "transport/modules/gloo_frame.hpp"
#include "transport/modules/gloo_outbox.hpp"

namespace narrowcast::over_gloo {

using Clock = std::chrono::steady_clock;
using framing::Inbox;
using framing::Receipt;

// Both directions between this rank and one peer.
class Link {
 public:
  Link(Shared& shared, int peer);
  ~Link() { stop(); }
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  // Posts the receives that the stream goes into, and says hello. The poster has frames from then
  // on, so it has to stop before this goes.
  void open(Bytes hello);
  // Instead of that, when there is no connection.
  void stay_closed() { lost_ = true; }
  // From now on a thread takes frames as they come. The first has to be this hello.
  void start(std::vector<std::byte> hello);
  void stop();

  // Whether the peer has said hello.
  bool met() const { return met_; }
  // Whether it has gone before that: no fault of the transport's yet.
  bool missed() { return !met_ && inbox_->ended(); }

  // Blocks at times, see Outbox. Fault::peer when the peer is gone.
  void send(const Slot& to, Bytes message, const Stamp& stamp);
  const std::shared_ptr<Inbox>& inbox() const { return inbox_; }

  // Looks whether the connection stands.
  void look();
  // Sends a heartbeat, and fails the transport when the peer has sent nothing for too long.
  void beat(Clock::time_point now);
  // Heartbeats may be late by that much, because this process itself stood still.
  void excuse(Clock::duration lateness) { last_heard_ = last_heard_.load() + lateness; }

  // Tells the peer that nothing follows, and `fault`, if that is why.
  void farewell(const std::optional<std::string>& fault);
  // Whether the peer knows, or is gone itself.
  bool parted();

  void wake();

 private:
  Frame& next_frame() { return *posted_[taken_ % posted_.size()]; }
  bool await_frame();
  void take_frame();
  void take_hello(const Header& header);
  void hear_farewell(const Header& header);
  void recycle();
  void watch() noexcept;
  void take_all();
  [[noreturn]] void fail_gone();

  Shared& shared_;
  const int peer_;
  Outbox outbox_;
  std::shared_ptr<Inbox> inbox_;

  std::vector<std::unique_ptr<Frame>> posted_;  // receives, in the order of the stream
  std::atomic<std::uint64_t> taken_ = 0;        // frames so far
  Frame canary_;  // a receive that nothing ever comes for: Gloo fails it when the connection goes

  std::mutex looking_;
  std::vector<std::byte> hello_;  // that the peer has to say

  std::atomic<bool> met_ = false;
  std::atomic<bool> lost_ = false;      // the connection is gone
  std::atomic<bool> stopping_ = false;  // we are
  std::atomic<bool> farewell_heard_ = false;
  std::atomic<Clock::time_point> last_heard_;
  std::thread watching_;
};

}  // namespace narrowcast::over_gloo
