#pragma once

#include <atomic>
#include <mutex>
#include <optional>

#include "base/error.hpp"

namespace narrowcast {

// Keeps the first fault of a transport, which from then on is the answer to everything.
class Latch {
 public:
  // Returns whether this was the first.
  bool fail(const Error& error) {
    const std::lock_guard lock(mutex_);
    if (error_) return false;
    error_ = error;
    failed_.store(true, std::memory_order_release);
    return true;
  }

  bool failed() const { return failed_.load(std::memory_order_acquire); }

  void check() const {
    if (failed()) throw Error(*error_);  // written once, before `failed_`
  }

 private:
  std::mutex mutex_;
  std::optional<Error> error_;
  std::atomic<bool> failed_ = false;
};

}  // namespace narrowcast
