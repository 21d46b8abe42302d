#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/descriptor.hpp"
#include "transport/shm/mapping.hpp"

namespace narrowcast::shm {

struct Verdict {
  int rank;
  Reproach reproach;
};

// Knows which peers are dead or silent. Ranks that left are neither.
class Watch {
 public:
  Watch(const Mapping& mapping, int rank, std::chrono::milliseconds timeout);

  // Follows the processes of peers that have joined since.
  void follow();
  // A peer whose process has ended. Waits so long for that, or for the stop of the thread.
  std::optional<Verdict> find_dead(std::chrono::milliseconds patience = {}) const;
  // A peer whose last heartbeat is older than the timeout. To be called all the time: a time in
  // which this process did not get to look counts for nobody.
  std::optional<Verdict> find_silent();
  void beat() const;

  std::string describe(const Verdict& verdict) const;

  // Beats and looks in a thread until stop(), and reports the first verdict there.
  void start(std::function<void(const Verdict&)> report);
  void stop();
  ~Watch() { stop(); }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

 private:
  struct Peer {
    int rank;
    Descriptor process;  // closed: not joined yet, or a thread of this very process
    bool followed = false;
    std::chrono::nanoseconds heard = {};
  };

  bool is_stopped(std::chrono::milliseconds patience) const;
  void run(const std::function<void(const Verdict&)>& report);

  const Mapping& mapping_;
  int rank_;
  std::chrono::milliseconds timeout_;
  std::chrono::milliseconds interval_;
  std::chrono::nanoseconds looked_;
  std::vector<Peer> peers_;
  Descriptor stop_;
  std::thread thread_;
};

}  // namespace narrowcast::shm
