#pragma once

#include <gloo/transport/tcp/device.h>

#include <mutex>
#include <vector>

#include "transport/modules/gloo_frame.hpp"

namespace narrowcast::over_gloo {

// Hands frames to Gloo in Gloo's own thread.
//
// A call of send() or recv() holds the lock of its connection, through the system call that writes.
// When the thread that made it loses its core meanwhile, Gloo's thread finds the lock taken, goes
// back to epoll, which at once says the same again, and so on for a whole time slice: milliseconds
// on a machine with one core for each rank. In Gloo's own thread there is nobody to wait for.
class Poster final : public gloo::transport::tcp::Handler {
 public:
  explicit Poster(gloo::Context& context);
  ~Poster() override { stop(); }
  Poster(const Poster&) = delete;
  Poster& operator=(const Poster&) = delete;

  // In the order of the calls. What Gloo refuses is lost: then the connection is, and whoever waits
  // for the frame learns that from it.
  void send(Frame& frame, int peer, std::uint64_t tag, std::size_t size);
  void receive(Frame& frame, int peer, std::uint64_t tag);

  // Nothing is handed to Gloo from now on, and frames may go.
  void stop();

 private:
  enum class Way { out, in };
  struct Errand {
    Way way;
    Frame* frame;
    int peer;
    std::uint64_t tag;
    std::size_t size;
  };

  void post(const Errand& errand);
  void handleEvents(int events) override;  // NOLINT(readability-identifier-naming): Gloo's

  gloo::transport::tcp::Device* device_;
  int bell_ = -1;
  std::mutex mutex_;
  std::vector<Errand> waiting_;
  bool stopped_ = false;
  std::vector<Errand> under_way_;  // Gloo's thread alone
};

}  // namespace narrowcast::over_gloo
