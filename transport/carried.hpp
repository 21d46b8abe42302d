#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>

#include "transport/join.hpp"
#include "transport/transport.hpp"

namespace narrowcast {

// A frame on its way to a peer.
struct Load {
  std::size_t number = 0;  // for carried()
  MutableBytes frame;
};

// Ranks whose bytes somebody else carries: a program that has connections of its own, as PyTorch has.
// The carrier calls the functions below from threads of its own, two for each peer, keeps the frames
// of each ordered pair of ranks in order, and delivers them as they come, whether or not anybody waits
// for what is in them. It never looks into one. docs/decisions/0019-frames-that-others-carry.md
class Carried final : public Transport {
 public:
  // place.local_* do not matter. `frame_bytes`: the most that travels at once, equal on all ranks;
  // 0: what suits their number. Too few to say farewell in are Fault::usage.
  struct Options {
    Place place;
    std::chrono::milliseconds timeout = kDefaultTimeout;
    std::size_t frame_bytes = 0;
  };
  explicit Carried(const Options& options);
  // Leaves, if that has not been done; no carrier is at work any more.
  ~Carried() override;
  Carried(const Carried&) = delete;
  Carried& operator=(const Carried&) = delete;

  int rank() const override;
  int size() const override;

  // The most bytes of a frame, equal on all ranks.
  std::size_t longest_frame() const;
  // How many frames to a peer may be under way: so many receives should be posted ahead.
  static std::size_t frames_ahead();

  // What to carry to that peer next, in this order; nothing when there will be no more. Blocks until
  // there is either.
  std::optional<Load> next(int peer);
  // The memory of that frame may be used again.
  void carried(int peer, const Load& load);
  // One whole frame of that peer, and whatever lies behind it. Returns whether more may come.
  bool deliver(int peer, Bytes frame);
  // The connection to that peer is gone.
  void lost(int peer, std::string_view why);

  // Tells the peers that this rank has left, waits until they know (not for long: those that are gone
  // never will), and lets next() end. Tickets fail from then on.
  void leave();

 private:
  class Engine;
  std::unique_ptr<Transfer> do_send(const Slot& to, Bytes message, const Stamp& stamp) override;
  std::unique_ptr<Transfer> do_receive(const Slot& from, MutableBytes buffer) override;

  std::unique_ptr<Engine> engine_;
};

}  // namespace narrowcast
