#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "transport/carried.hpp"
#include "transport/carrying/lane.hpp"
#include "transport/framing/faults.hpp"
#include "transport/framing/inbox.hpp"

namespace narrowcast {

class Carried::Engine {
 public:
  explicit Engine(const Options& options);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  const Place& place() const { return place_; }
  std::size_t frame_bytes() const { return frame_bytes_; }
  const Latch& latch() const { return faults_.latch; }
  carrying::Lane& lane(int peer) { return peers_[peer]->lane; }

  void send(const Slot& to, Bytes message, const Stamp& stamp);
  const std::shared_ptr<framing::Inbox>& inbox(int peer) const { return peers_[peer]->inbox; }

  bool deliver(int peer, Bytes frame);
  void lost(int peer, std::string_view why);
  void leave();

 private:
  using Clock = carrying::Clock;

  // Both directions between this rank and one peer.
  struct Peer {
    Peer(framing::Faults& faults, int number, std::size_t frame_bytes)
        : lane(frame_bytes),
          inbox(std::make_shared<framing::Inbox>(faults, number)),
          last_heard(Clock::now()) {}

    carrying::Lane lane;
    std::shared_ptr<framing::Inbox> inbox;
    std::atomic<std::uint64_t> taken = 0;  // of its frames
    std::atomic<std::uint64_t> heard = 0;  // how many of ours it says it has taken
    std::atomic<bool> gone = false;        // it has said farewell, or its connection is lost
    std::atomic<Clock::time_point> last_heard;
    // How many it has to have taken to know that this rank has left; under `mutex_`.
    std::optional<std::uint64_t> farewell;
  };

  static bool knows(const Peer& peer);
  void take(int peer, const framing::Header& header, Bytes payload);
  void hear_farewell(int peer, const framing::Header& header, Bytes text);
  void end(int peer, std::string why = {});
  void monitor();
  void look(Clock::time_point now);
  void tell_farewell();
  void wake_all();
  template <class Call>
  void each(Call call);

  const Place place_;
  const std::size_t frame_bytes_;
  framing::Faults faults_;
  std::vector<std::unique_ptr<Peer>> peers_;  // none for this rank itself

  std::mutex mutex_;
  std::condition_variable changed_;
  Clock::time_point excused_;  // what is older than this does not count as silence
  bool left_ = false;
  bool stopping_ = false;
  std::thread monitor_;  // the last, so that all else is there when it starts
};

}  // namespace narrowcast
