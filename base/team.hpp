#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

namespace narrowcast {

// A few threads that work on one thing together. Members spin briefly between jobs, then sleep, so
// that jobs of some tens of microseconds still gain.
class Team {
 public:
  explicit Team(int size);  // the caller is one of them
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int size() const { return static_cast<int>(members_.size()) + 1; }

  // Calls job(i) for i in [0, size), each on its own thread, job(0) on the caller's, and returns
  // when all have. The first exception, by i, is rethrown.
  void run(const std::function<void(int)>& job);

 private:
  void serve(int member);
  void attempt(int member) noexcept;  // the job, its exception kept
  void dismiss() noexcept;

  std::atomic<std::uint32_t> round_ = 0;    // counts jobs; the top bit says stop
  std::atomic<std::uint32_t> pending_ = 0;  // members that have not finished the current job
  const std::function<void(int)>* job_ = nullptr;
  std::vector<std::exception_ptr> errors_;
  std::vector<std::thread> members_;
};

}  // namespace narrowcast
