#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "transport/carried.hpp"
#include "transport/carrying/records.hpp"

namespace narrowcast::carrying {

using Clock = std::chrono::steady_clock;

// Frames on their way to one peer. While the carrier is busy with one, what is sent meanwhile gathers
// in the next: what a frame costs beside its bytes is paid less often the more there is to carry.
class Lane {
 public:
  explicit Lane(std::size_t frame_bytes) : frame_bytes_(frame_bytes) {}

  // Copies the message into frames. Blocks while so many are under way as may be. False when woken
  // meanwhile.
  bool send(const Slot& to, Bytes message, const Stamp& stamp);

  // `seen`: how many of the peer's frames have been taken. Left out while frames are waiting, which
  // show as well that this rank is alive.
  void beat(std::uint64_t seen);
  // The same, but never left out: the answer to a farewell.
  void acknowledge(std::uint64_t seen);
  // The last record. Once only. Returns how many frames the peer will have taken when it has it;
  // nothing when nothing goes there any more.
  std::optional<std::uint64_t> farewell(framing::Kind kind, std::string_view text);

  // The carrier's side, see Carried.
  std::optional<Load> next();
  void carried(std::size_t frame);

  // Since when the oldest frame has been waiting to be carried; nothing: there is none.
  std::optional<Clock::time_point> waiting_since() const;

  // send() returns, now and from now on.
  void wake();
  // Nothing more goes to the peer, but for what is here already.
  void close();
  // Nor that.
  void drop();
  // next() ends when what is here has been carried.
  void end();

 private:
  struct Frame {
    explicit Frame(std::size_t room) : records(room) {}
    Records records;
    Clock::time_point since;
  };

  // Under the lock.
  bool has_room() const;
  Frame& open();
  std::uint64_t put_control(const framing::Header& header, std::string_view text);

  const std::size_t frame_bytes_;
  mutable std::mutex mutex_;
  std::condition_variable room_;
  std::condition_variable work_;
  std::vector<std::unique_ptr<Frame>> frames_;
  std::vector<std::size_t> free_;
  std::deque<std::size_t> queue_;  // to be carried; records are added to the last
  std::deque<std::size_t>
      under_way_;           // those, and what has not been carried to its end; oldest first
  std::uint64_t next_ = 0;  // number of the frame that is carried next
  bool closed_ = false;
  bool woken_ = false;
  bool ended_ = false;
};

}  // namespace narrowcast::carrying
