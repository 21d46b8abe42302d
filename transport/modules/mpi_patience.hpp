#pragma once

#include <chrono>
#include <thread>

namespace narrowcast::mpi {

// How a thread waits for what MPI brings only when asked: at once again at first, then letting
// others run.
class Patience {
 public:
  explicit Patience(int spins) : spins_(spins) {}

  void pause() {
    if (++turns_ > spins_) std::this_thread::yield();
  }

  // Whether it lasts so long that unusual steps are in order: says so once in a while.
  bool worn() {
    if (turns_ <= spins_ || Clock::now() - since_ < kLong) return false;
    since_ = Clock::now();
    return true;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr auto kLong = std::chrono::milliseconds(1);

  int spins_;
  int turns_ = 0;
  Clock::time_point since_ = Clock::now();
};

}  // namespace narrowcast::mpi
