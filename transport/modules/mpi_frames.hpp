#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "transport/transport.hpp"

namespace narrowcast::mpi {

// What travels on tag 0, in order from each rank. Every message has a frame; one that fits rides in
// it, a longer one follows as a payload on a tag of its own, which the frame tells.
enum class Kind : std::uint32_t {
  message = 1,
  withdrawn = 2,  // the sender has cancelled that message: take its payload and forget it
  beat = 3,
  failed = 4,  // the sender's transport has failed, the body says why
  left = 5,    // the sender touches nothing any more, and sends no more messages
  noted = 6,   // the answer to `left` of one that stays: no frame will follow
};

struct Header {
  std::uint32_t magic = 0;
  Kind kind = Kind::beat;
  std::uint32_t channel = 0;
  std::uint32_t tag = 0;  // of the payload; 0: the message is in the frame
  std::uint64_t sequence = 0;
  std::uint64_t length = 0;
  Stamp stamp = {};
};
static_assert(sizeof(Header) == 48);

// Within what both MPIs send without asking the receiver first (4 KiB over shared memory).
inline constexpr std::size_t kFrameBytes = 4000;
inline constexpr std::size_t kBodyBytes = kFrameBytes - sizeof(Header);

struct Frame {
  Header header;
  std::array<std::byte, kBodyBytes> body;
};
static_assert(sizeof(Frame) == kFrameBytes);

// Sends and receives frames. Every call needs the turn.
class Frames {
 public:
  struct Arrived {
    int peer;
    const Header& header;
    Bytes body;
  };

  Frames(MPI_Comm comm, int size);

  // `body` is copied.
  void send(int peer, const Header& header, Bytes body = {});

  // The next frame that has come, if any; valid until the next call. Fault::wire, naming the rank,
  // when it is not a frame.
  std::optional<Arrived> next();

  // Takes back the frames that MPI is done with.
  void reap();
  bool idle() const { return sends_.empty(); }
  int under_way_to(int peer) const { return under_way_[peer]; }

  // Receives nothing more.
  void close();

  // Leaves to MPI, for good, the frames that it may still touch.
  void abandon();

 private:
  struct Posted {
    MPI_Request request = MPI_REQUEST_NULL;
    std::unique_ptr<Frame> frame;
    int peer = 0;
  };

  void post_receive(Posted& posted);

  MPI_Comm comm_;
  std::vector<Posted> receives_;  // a ring: MPI fills them in the order posted
  std::size_t head_ = 0;
  bool head_taken_ = false;  // the caller has been looking at it: to be posted again
  std::deque<Posted> sends_;
  std::vector<std::unique_ptr<Frame>> spare_;
  std::vector<int> under_way_;  // by peer
};

}  // namespace narrowcast::mpi
