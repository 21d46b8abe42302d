#pragma once

#include <gloo/context.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>

#include "transport/latch.hpp"
#include "transport/modules/gloo_poster.hpp"
#include "transport/transport.hpp"

namespace narrowcast::over_gloo {

// What all links of one rank share.
struct Shared {
  std::shared_ptr<gloo::Context> context;
  Poster* poster = nullptr;
  std::chrono::milliseconds timeout = kDefaultTimeout;
  std::size_t frame_bytes = 0;  // the most payload of one frame; equal on all ranks
  std::size_t frames = 0;       // under way in each direction of a link

  Latch latch;
  std::atomic<bool> noticed_here = false;  // whether the fault is our own finding, not hearsay
  std::function<void()> wake_all;          // whoever waits for anything looks again

  // Tells the destructor of the transport that somebody left or has heard us.
  std::mutex mutex;
  std::condition_variable progress;

  // Must not be called with a link's lock held.
  void fail(const Error& error) {
    if (latch.fail(error)) noticed_here = true;
    wake_all();
  }
  void fail_by_hearsay(const Error& error) {
    latch.fail(error);
    wake_all();
  }
  void note_progress() {
    const std::lock_guard lock(mutex);
    progress.notify_all();
  }
};

}  // namespace narrowcast::over_gloo
