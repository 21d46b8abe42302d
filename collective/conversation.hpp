#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "base/team.hpp"
#include "transport/transport.hpp"

namespace narrowcast {

// What a collective spends its time on.
enum class Work { encode, wire, decode };

// Told when each kind of work begins and ends; who wants to know how long it took hands one in.
class Probe {
 public:
  virtual ~Probe() = default;
  virtual void start(Work work) = 0;
  virtual void stop(Work work) = 0;
};

struct ConversationParts {
  Team* team = nullptr;    // threads for encoding and decoding; none: the caller's
  Probe* probe = nullptr;  // nobody wants to know
};

// The collectives of one channel, one after the other: numbers their messages, and keeps their
// scratch memory. Several conversations, each on its own channel, may use one transport at once.
class Conversation {
 public:
  // Messages of different purpose between the same ranks, so that none waits for another's turn.
  static constexpr int kLanes = 5;

  // All ranks use the same number for the same conversation.
  Conversation(Transport& net, std::uint32_t number, const ConversationParts& parts = {});

  int rank() const { return net_->rank(); }
  int size() const { return net_->size(); }
  Transport& net() { return *net_; }
  Team& team() { return *team_; }
  Probe& probe() { return *probe_; }

  // The next message to or from a peer on a lane.
  Slot next_to(int peer, int lane) { return next(sent_, peer, lane); }
  Slot next_from(int peer, int lane) { return next(received_, peer, lane); }

  // At least that many bytes, aligned to a cache line; invalidates what earlier calls returned.
  MutableBytes scratch(std::size_t bytes);
  std::size_t scratch_bytes() const { return scratch_bytes_; }

 private:
  struct Free {
    void operator()(std::byte* memory) const { ::operator delete[](memory, kAlign); }
  };
  static constexpr std::align_val_t kAlign{64};

  Slot next(std::vector<std::uint64_t>& counters, int peer, int lane);

  Transport* net_;
  std::uint32_t number_;
  Team* team_;
  Probe* probe_;
  std::unique_ptr<Team> own_team_;
  std::unique_ptr<Probe> own_probe_;
  std::vector<std::uint64_t> sent_;  // by lane and peer
  std::vector<std::uint64_t> received_;
  std::unique_ptr<std::byte[], Free> scratch_;
  std::size_t scratch_bytes_ = 0;
};

// Tells the probe of some work while it lives.
class Span {
 public:
  Span(Conversation& group, Work work) : probe_(group.probe()), work_(work) { probe_.start(work); }
  ~Span() { probe_.stop(work_); }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

 private:
  Probe& probe_;
  Work work_;
};

}  // namespace narrowcast
