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
#include "transport/framing/frame.hpp"

namespace narrowcast::carrying {

using Clock = std::chrono::steady_clock;

// Frames on their way to the peers, to each in the order in which they were made.
class Outgoing {
 public:
  Outgoing(int ranks, std::size_t frame_bytes) : frame_bytes_(frame_bytes), peers_(ranks) {}

  // Copies the message into frames. Blocks while so many are under way to that peer as may be. False
  // when woken meanwhile.
  bool send(const Slot& to, Bytes message, const Stamp& stamp);

  // `seen`: how many of the peer's frames have been taken. Left out while the last ones are on their
  // way still.
  void beat(int peer, std::uint64_t seen);
  // The same, but never left out: the answer to a farewell.
  void acknowledge(int peer, std::uint64_t seen);
  // The last frame. Once only. Returns its number, or nothing when nothing goes there any more.
  std::optional<std::uint64_t> farewell(int peer, framing::Kind kind, std::string_view text);

  // The carrier's side, see Carried.
  std::optional<Load> next(int peer);
  void carried(std::size_t number);

  // Since when the oldest frame to that peer has been waiting to be carried; nothing: there is none.
  std::optional<Clock::time_point> waiting_since(int peer) const;

  // send() returns, now and from now on.
  void wake();
  // Nothing more goes to that peer, but for what is here already.
  void close(int peer);
  // Nor that.
  void drop(int peer);
  // next() ends when what is here has been carried.
  void end();

 private:
  struct Frame {
    std::vector<std::byte> memory;
    int peer = 0;
    std::size_t size = 0;
    framing::Kind kind = framing::Kind::message;
    Clock::time_point since;
  };
  struct Peer {
    std::vector<std::size_t> free;  // frames for messages
    std::size_t made = 0;           // of those
    std::deque<std::size_t> queue;  // to be carried
    std::deque<std::size_t>
        under_way;           // those and what has not been carried to its end, oldest first
    std::uint64_t next = 0;  // number of the next frame in the stream
    std::size_t beats = 0;   // under way
    bool closed = false;
  };

  std::optional<std::size_t> take(int peer);
  std::size_t make(std::size_t payload);
  MutableBytes payload(std::size_t frame);
  std::uint64_t push(std::size_t frame, int peer, framing::Header header);
  std::uint64_t push_control(int peer, const framing::Header& header, std::string_view text);

  const std::size_t frame_bytes_;
  mutable std::mutex mutex_;
  std::condition_variable room_;
  std::condition_variable work_;
  std::vector<std::unique_ptr<Frame>> frames_;
  std::vector<std::size_t> small_;  // free ones for heartbeats and farewells
  std::vector<Peer> peers_;
  bool woken_ = false;
  bool ended_ = false;
};

}  // namespace narrowcast::carrying
