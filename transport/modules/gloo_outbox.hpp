#pragma once

#include <atomic>
#include <deque>
#include <mutex>
#include <string_view>
#include <vector>

#include "transport/modules/gloo_frame.hpp"
#include "transport/modules/gloo_shared.hpp"

namespace narrowcast::over_gloo {

// The stream of frames to one peer. Whatever Gloo throws passes through: the connection is gone.
class Outbox {
 public:
  Outbox(Shared& shared, int peer);

  // Copies the message into frames. Blocks while the peer, which takes frames whether or not
  // anybody waits for what is in them, has too many to take still. False when woken meanwhile.
  bool send(const Slot& to, Bytes message, const Stamp& stamp);

  // `seen`: how many of the peer's frames have been taken. Left out while the last few heartbeats
  // are on their way still: the peer has those to go by.
  void beat(std::uint64_t seen);
  // The same, but never left out: the answer to a farewell.
  void acknowledge(std::uint64_t seen);

  // The last frame. Once only.
  void farewell(Kind kind, std::string_view text);
  // Whether the peer has taken it.
  bool farewell_heard() const;

  // The peer says that it has taken so many frames. Fault::wire when it cannot have.
  void heard(std::uint64_t frames);

  // Ends the blocking, now and from now on.
  void wake();

 private:
  static constexpr std::size_t kBeats = 4;
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};

  struct Beat {
    std::unique_ptr<Frame> frame;
    std::uint64_t number = kNone;
  };

  Frame* take_frame();
  void post(Frame& frame, Header header);
  std::uint64_t post_locked(Frame& frame, Header& header);
  void post_alive(Beat& beat, std::uint64_t seen);

  Shared& shared_;
  const int peer_;
  const std::uint64_t tag_;

  std::mutex mutex_;
  std::uint64_t next_ = 0;                      // number of the next frame
  std::vector<std::unique_ptr<Frame>> frames_;  // for messages
  std::deque<Frame*> under_way_;                // those that Gloo has, oldest first
  std::vector<Frame*> waited_for_;
  bool woken_ = false;

  Beat beats_[kBeats];
  std::size_t next_beat_ = 0;
  Beat answer_;
  Beat farewell_;
  std::uint64_t told_ = 0;  // how many frames of the peer we have said to have taken
  std::atomic<std::uint64_t> heard_ = 0;
};

}  // namespace narrowcast::over_gloo
