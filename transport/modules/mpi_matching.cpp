// How messages that come and receives that are posted find each other.

#include <fmt/core.h>

#include <algorithm>

#include "base/error.hpp"
#include "transport/modules/mpi_link.hpp"

namespace narrowcast::mpi {
namespace {

Error too_long(const Slot& from, std::uint64_t length, std::size_t room) {
  return {Fault::wire, fmt::format("rank {} sent {} bytes where {} fit (channel {}, message {})",
                                   from.peer, length, room, from.channel, from.sequence)};
}

// Whether a parked message is still with MPI, and nobody has asked for it.
bool on_its_way(const Header& header, Bytes bytes) { return header.tag != 0 && bytes.empty(); }

}  // namespace

void Link::want(Incoming& in) {
  const Turn turn = session_.turn();
  if (latch_.failed()) return;
  const auto found = parked_.find(in.from);
  if (found == parked_.end()) {
    require(wanted_.emplace(in.from, &in).second, Fault::usage,
            "mpi: two receives for one message");
    return;
  }
  try {
    claim_parked(in, found->second);
    parked_.erase(found);
  } catch (const std::exception& error) {
    fail(error);
  }
}

void Link::accept(const Frames::Arrived& arrived) {
  const Header& header = arrived.header;
  const Slot slot{arrived.peer, header.channel, header.sequence};
  if (header.tag > highest_tag_ || (header.tag != 0 && header.length <= kBodyBytes))
    throw Error(Fault::wire, fmt::format("rank {} announced an impossible payload", slot.peer));
  if (header.tag == 1) clear_tags_of(slot.peer);
  const auto found = wanted_.find(slot);
  if (found == wanted_.end()) return park(slot, arrived);
  Incoming& in = *found->second;
  if (header.length > in.buffer.size()) {
    park(slot, arrived);  // where its sender's withdrawal will find it
    throw too_long(slot, header.length, in.buffer.size());
  }
  wanted_.erase(found);
  claim(in, header, arrived.body);
}

void Link::park(const Slot& slot, const Frames::Arrived& arrived) {
  if (arrived.body.size() > kHeldAtMost - held_ || parked_.size() + drains_.size() >= kParkedAtMost)
    throw Error(Fault::wire, fmt::format("rank {} sends and sends what nobody wants", slot.peer));
  Parked parked{.header = arrived.header, .bytes = {arrived.body.begin(), arrived.body.end()}};
  if (!parked_.emplace(slot, std::move(parked)).second)
    throw Error(Fault::wire, fmt::format("rank {} sent message {} of channel {} twice", slot.peer,
                                         slot.sequence, slot.channel));
  held_ += arrived.body.size();
}

void Link::claim(Incoming& in, const Header& header, Bytes body) {
  in.arrival = {header.length, header.stamp};
  if (header.tag == 0) {
    copy(body, in.buffer);
    in.state = Incoming::State::arrived;
    return;
  }
  arriving_.insert(&in);  // first: once MPI has the memory, it must be known
  in.payload = Payload::receive(line(in.from.peer, header.tag), in.buffer.first(header.length));
  in.state = Incoming::State::arriving;
}

void Link::claim_parked(Incoming& in, Parked& parked) {
  const Header& header = parked.header;
  if (header.length > in.buffer.size()) throw too_long(in.from, header.length, in.buffer.size());
  held_ -= parked.bytes.size();
  if (header.tag == 0 || on_its_way(header, parked.bytes)) return claim(in, header, parked.bytes);
  arriving_.insert(&in);
  in.arrival = {header.length, header.stamp};
  in.shelf = std::move(parked.bytes);
  in.payload = std::move(parked.payload);
  in.state = Incoming::State::arriving;
}

// The sender's tags have come round. MPI hands out payloads of one tag in the order sent, so those
// that are still unclaimed must be asked for before the new ones are.
void Link::clear_tags_of(int peer) {
  const auto from_peer = [&](const Drain& drain) { return drain.from.peer == peer; };
  bool clear = std::ranges::none_of(drains_, from_peer);
  for (auto& [slot, parked] : parked_)
    if (slot.peer == peer && on_its_way(parked.header, parked.bytes))
      clear = shelve(slot, parked) && clear;
  if (!clear)
    throw Error(Fault::wire, fmt::format("rank {} uses tags again of payloads that have not been "
                                         "taken, and that do not fit in {} bytes",
                                         peer, kHeldAtMost));
}

void Link::shelve_what_fits() {
  for (auto& [slot, parked] : parked_)
    if (on_its_way(parked.header, parked.bytes)) shelve(slot, parked);
}

bool Link::shelve(const Slot& slot, Parked& parked) {
  const Header& header = parked.header;
  if (header.length > kHeldAtMost - held_) return false;
  parked.bytes.resize(header.length);
  held_ += header.length;
  parked.payload = Payload::receive(line(slot.peer, header.tag), parked.bytes);
  return true;
}

void Link::forget(const Slot& slot, std::uint32_t tag) {
  const auto found = parked_.find(slot);
  if (tag == 0 || found == parked_.end() || found->second.header.tag != tag) return;
  Parked& parked = found->second;
  if (on_its_way(parked.header, parked.bytes)) {
    drains_.push_back({.from = line(slot.peer, tag), .rest = parked.header.length});
  } else {
    forgotten_.push_back(std::move(parked));
  }
  parked_.erase(found);
}

// Takes what has been withdrawn. Its length is only what a peer says, so one piece at a time.
void Link::drain() {
  std::erase_if(forgotten_, [this](Parked& parked) {
    if (!parked.payload.done()) return false;
    held_ -= parked.header.length;  // 0 of one that a receive had claimed: it is not in `held_`
    return true;
  });
  if (!sinking_.done()) return;
  sink_.clear();
  if (drains_.empty()) return sink_.shrink_to_fit();
  Drain& next = drains_.front();
  sink_.resize(std::min<std::uint64_t>(next.rest, kPieceBytes));
  sinking_ = Payload::receive(next.from, sink_);
  next.rest -= sink_.size();
  if (next.rest == 0) drains_.pop_front();
}

}  // namespace narrowcast::mpi
