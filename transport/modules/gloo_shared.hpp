#pragma once

#include <gloo/context.h>

#include <condition_variable>
#include <memory>
#include <mutex>

#include "transport/framing/faults.hpp"
#include "transport/modules/gloo_poster.hpp"
#include "transport/transport.hpp"

namespace narrowcast::over_gloo {

// What all links of one rank share.
struct Shared : framing::Faults {
  std::shared_ptr<gloo::Context> context;
  Poster* poster = nullptr;
  std::size_t frame_bytes = 0;  // the most payload of one frame; equal on all ranks
  std::size_t frames = 0;       // under way in each direction of a link

  // Tells the destructor of the transport that somebody left or has heard us.
  std::mutex mutex;
  std::condition_variable progress;

  void note_progress() {
    const std::lock_guard lock(mutex);
    progress.notify_all();
  }
};

}  // namespace narrowcast::over_gloo
