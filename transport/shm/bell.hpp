#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

// How a rank sleeps until another has news for it. One thread of a rank sleeps at a time.
//
//   the sleeper: get_ready(); look once more for news; then sleep(), or stay_awake()
//   the others:  store the news; ring()
//
// News and bell are sequentially consistent, so one of the two sees what the other stored.
namespace narrowcast::shm {

class Bell {
 public:
  explicit Bell(std::atomic<std::uint32_t>& word) : word_(word) {}

  void get_ready() { word_.store(1); }
  void stay_awake() { word_.store(0); }
  // Returns when somebody rang, when the time is over, or for no reason.
  void sleep(std::optional<std::chrono::nanoseconds> at_most = {});

  // Costs one load when nobody sleeps.
  void ring() {
    if (word_.load() != 0) wake();
  }
  // Wakes the sleeper whatever the word says.
  void wake();

 private:
  std::atomic<std::uint32_t>& word_;
};

}  // namespace narrowcast::shm
