#pragma once

#include <mpi.h>

#include <chrono>
#include <deque>
#include <exception>
#include <list>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "transport/latch.hpp"
#include "transport/modules/mpi_frames.hpp"
#include "transport/modules/mpi_payload.hpp"
#include "transport/modules/mpi_peers.hpp"
#include "transport/modules/mpi_session.hpp"
#include "transport/transport.hpp"

namespace narrowcast::mpi {

// A message that the caller sends. Lives in its ticket.
struct Outgoing {
  Slot to;
  std::uint32_t tag = 0;
  Payload payload = {};  // reads the caller's memory
};

// A message that the caller wants. Lives in its ticket.
struct Incoming {
  enum class State { wanted, arriving, arrived };

  Slot from;
  MutableBytes buffer;
  State state = State::wanted;
  Arrival arrival = {};
  std::vector<std::byte> shelf = {};  // where it arrives, if not in `buffer`
  Payload payload = {};
};

// What a rank that has left had handed to MPI before, such as word of a message's arrival, is here
// by then.
inline constexpr auto kFarewell = std::chrono::milliseconds(100);

// How many bytes of messages that nobody wants yet a link holds.
inline constexpr std::size_t kHeldAtMost = std::size_t{1} << 30;

// And how many such messages, which may be empty.
inline constexpr std::size_t kParkedAtMost = std::size_t{1} << 22;

struct SlotHash {
  std::size_t operator()(const Slot& slot) const noexcept;
};

// One rank's messages to and from all others, over one communicator.
//
// MPI could match by tag, but has too few tags for (channel, sequence), and tells the length of a
// message only with its bytes. So a frame goes ahead of each message (mpi_frames.hpp), and right
// behind it the payload, on a tag that the sender takes from a counter: no round trip is added. The
// receiver hands the caller's buffer to MPI when the frame has come, and not before: a receive that
// nothing has come for is cancelled without MPI, and a message that nobody wants yet stays with its
// sender. As that sender may insist on getting rid of it before it sends what we wait for, a wait
// that lasts takes such messages onto a shelf, which is heap memory, up to 1 GiB.
//
// MPI has no way to cancel a send. A cancelled one is withdrawn instead: the receiver takes the
// payload and forgets it. Giving up, in both directions, waits until MPI is done with the caller's
// memory; where that takes too long, the session is muted, for MPI moves bytes only while called.
class Link {
 public:
  // Needs the turn.
  Link(Session& session, MPI_Comm comm, std::chrono::milliseconds timeout);

  int rank() const { return rank_; }
  int size() const { return size_; }
  Session& session() { return session_; }
  std::chrono::milliseconds interval() const { return peers_.interval(); }

  void send(Outgoing& out, Bytes message, const Stamp& stamp);
  void want(Incoming& in);

  // Return when it has been sent or has arrived; throw the fault of the link.
  void await(Outgoing& out) { await_settled(out); }
  void await(Incoming& in) { await_settled(in); }

  // Return when MPI does not touch the caller's memory any more.
  void give_up(Outgoing& out) noexcept;
  void give_up(Incoming& in) noexcept;

  // Moves bytes, beats, and looks after the peers. Faults go to the latch. Needs the turn.
  void progress() noexcept;

  void all_reduce(MutableFloats values);

  // Gives up what is under way, and tells the others that this was all. Tickets that are still
  // around may then be destroyed, but not waited for.
  void leave() noexcept;

 private:
  // A message that nobody wants yet. Its bytes are here if it came in a frame or is on the shelf;
  // `payload` is what is still missing of them.
  struct Parked {
    Header header = {};
    std::vector<std::byte> bytes = {};
    Payload payload = {};
  };

  // What is still to be taken of a withdrawn payload, and thrown away.
  struct Drain {
    Line from;
    std::uint64_t rest = 0;
  };

  template <class Item>
  void await_settled(Item& item);
  template <class Item>
  void release_quietly(Item& item) noexcept;
  template <class Done>
  bool drive(Turn& turn, Done done);

  // All that follows needs the turn.
  bool settled(Outgoing& out);
  bool settled(Incoming& in);
  void insist(const Outgoing& out);
  void insist(const Incoming& in);
  void handle(const Frames::Arrived& arrived);
  void accept(const Frames::Arrived& arrived);
  void park(const Slot& slot, const Frames::Arrived& arrived);
  void claim(Incoming& in, const Header& header, Bytes body);
  void claim_parked(Incoming& in, Parked& parked);
  void forget(const Slot& slot, std::uint32_t tag);
  void drain();
  bool drained() const { return drains_.empty() && sink_.empty(); }
  void clear_tags_of(int peer);
  void shelve_what_fits();
  bool shelve(const Slot& slot, Parked& parked);  // whether it fits
  void beat(Clock::time_point now);
  void fail(const std::exception& error) noexcept;
  void release(Turn& turn, Outgoing& out);
  void release(Turn& turn, Incoming& in);
  void abandon(int peer);
  void say_goodbye(Turn& turn);
  std::uint32_t take_tag(int peer);
  Line line(int peer, std::uint32_t tag) const { return {comm_, peer, static_cast<int>(tag)}; }

  Session& session_;
  MPI_Comm comm_;
  int rank_;
  int size_;
  std::chrono::milliseconds timeout_;
  Latch latch_;
  Peers peers_;
  Frames frames_;
  std::uint32_t highest_tag_;
  std::vector<std::uint32_t> tags_;  // by peer: the last one taken
  Clock::time_point next_beat_;
  std::optional<Clock::time_point> grace_end_;  // of giving up after a fault
  bool leaving_everybody_ = false;
  bool gone_ = false;

  std::unordered_map<Slot, Incoming*, SlotHash> wanted_;
  std::unordered_map<Slot, Parked, SlotHash> parked_;
  std::unordered_set<Incoming*> arriving_;
  std::unordered_set<Outgoing*> leaving_;
  std::list<Parked> forgotten_;  // their payloads are still coming
  std::deque<Drain> drains_;     // one after the other, a piece at a time
  std::vector<std::byte> sink_;  // where that piece goes
  Payload sinking_;
  // Bytes in `parked_`, and those from there in `forgotten_`. Never more than kHeldAtMost.
  std::size_t held_ = 0;
};

}  // namespace narrowcast::mpi
