// How messages that come and receives that are posted find each other.

#include <fmt/core.h>

#include <limits>

#include "base/error.hpp"
#include "transport/modules/mpi_link.hpp"

namespace narrowcast::mpi {
namespace {

constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

Error too_long(const Slot& from, std::uint64_t length, std::size_t room) {
  return {Fault::wire, fmt::format("rank {} sent {} bytes where {} fit (channel {}, message {})",
                                   from.peer, length, room, from.channel, from.sequence)};
}

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
  } catch (const Error& error) {
    fail(error);
  }
}

void Link::accept(const Frames::Arrived& arrived) {
  const Header& header = arrived.header;
  const Slot slot{arrived.peer, header.channel, header.sequence};
  if (header.tag > highest_tag_ || (header.tag != 0 && header.length <= kBodyBytes))
    throw Error(Fault::wire, fmt::format("rank {} announced an impossible payload", slot.peer));
  // The sender's tags have come round. MPI hands out payloads of one tag in the order sent, so those
  // that are still unclaimed must be asked for before the new ones are.
  if (header.tag == 1) shelve(kNoLimit);
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
  held_ += arrived.body.size();
  if (held_ > kHeldAtMost)
    throw Error(Fault::wire, fmt::format("rank {} sends and sends what nobody wants", slot.peer));
  Parked parked{.header = arrived.header, .bytes = {arrived.body.begin(), arrived.body.end()}};
  if (!parked_.emplace(slot, std::move(parked)).second)
    throw Error(Fault::wire, fmt::format("rank {} sent message {} of channel {} twice", slot.peer,
                                         slot.sequence, slot.channel));
}

void Link::claim(Incoming& in, const Header& header, Bytes body) {
  in.arrival = {header.length, header.stamp};
  if (header.tag == 0) {
    copy(body, in.buffer);
    in.state = Incoming::State::arrived;
    return;
  }
  in.payload = Payload::receive(line(in.from.peer, header.tag), in.buffer.first(header.length));
  in.state = Incoming::State::arriving;
  arriving_.insert(&in);
}

void Link::claim_parked(Incoming& in, Parked& parked) {
  const Header& header = parked.header;
  if (header.length > in.buffer.size()) throw too_long(in.from, header.length, in.buffer.size());
  held_ -= parked.bytes.size();
  if (header.tag == 0 || parked.bytes.empty()) return claim(in, header, parked.bytes);
  in.arrival = {header.length, header.stamp};
  in.shelf = std::move(parked.bytes);
  in.payload = std::move(parked.payload);
  in.state = Incoming::State::arriving;
  arriving_.insert(&in);
}

void Link::shelve(std::size_t limit) {
  for (auto& [slot, parked] : parked_) {
    const bool on_its_way = parked.header.tag != 0 && parked.bytes.empty();
    if (on_its_way && held_ + parked.header.length <= limit) {
      shelve(slot.peer, parked);
      held_ += parked.bytes.size();
    }
  }
}

void Link::shelve(int peer, Parked& parked) {
  parked.bytes.resize(parked.header.length);
  parked.payload = Payload::receive(line(peer, parked.header.tag), parked.bytes);
}

void Link::forget(const Slot& slot, std::uint32_t tag) {
  const auto found = parked_.find(slot);
  if (tag == 0 || found == parked_.end() || found->second.header.tag != tag) return;
  held_ -= found->second.bytes.size();
  forgotten_.push_back(std::move(found->second));
  parked_.erase(found);
  if (forgotten_.back().bytes.empty()) shelve(slot.peer, forgotten_.back());
}

}  // namespace narrowcast::mpi
