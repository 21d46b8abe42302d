#pragma once

#include <atomic>
#include <chrono>
#include <functional>

#include "transport/latch.hpp"
#include "transport/transport.hpp"

namespace narrowcast::framing {

// What goes wrong with a transport of frames, and who is to know.
struct Faults {
  std::chrono::milliseconds timeout = kDefaultTimeout;
  Latch latch;
  std::atomic<bool> noticed_here = false;  // whether the fault is our own finding, not hearsay
  std::function<void()> wake_all;          // whoever waits for anything looks again

  // Neither may be called with a lock held that wake_all() takes.
  void fail(const Error& error) {
    if (latch.fail(error)) noticed_here = true;
    wake_all();
  }
  void fail_by_hearsay(const Error& error) {
    latch.fail(error);
    wake_all();
  }
};

}  // namespace narrowcast::framing
