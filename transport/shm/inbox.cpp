#include "transport/shm/inbox.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <new>

#include "base/error.hpp"

namespace narrowcast::shm {
namespace {

// After so much it is the turn of other peers, and of what waits to be sent.
constexpr std::size_t kTurn = std::size_t{256} << 10;

}  // namespace

Inbox::Inbox(int peer, const RingReader& ring, std::size_t& parked_bytes)
    : peer_(peer), ring_(ring), parked_bytes_(parked_bytes) {}

void Inbox::check_fits(const MessageHeader& header, const Posted& posted) const {
  if (header.length <= posted.buffer.size()) return;
  throw Error(Fault::wire,
              fmt::format("rank {} sent {} bytes where {} fit (channel {}, message {})", peer_,
                          header.length, posted.buffer.size(), header.channel, header.sequence));
}

void Inbox::post(Posted& posted) {
  const Key key{posted.from.channel, posted.from.sequence};
  const auto parked = parked_.find(key);
  if (parked == parked_.end()) {
    require(posted_.emplace(key, &posted).second, Fault::usage, "two receives for one message");
    return;
  }
  const MessageHeader& header = parked->second.header;
  check_fits(header, posted);
  const std::byte* bytes = parked->second.bytes.get();
  const bool is_coming = current_ && current_->to == bytes;
  const std::size_t here = is_coming ? current_->got : header.length;
  copy({bytes, here}, posted.buffer);
  posted.status.arrival = {header.length, header.stamp};
  if (is_coming) {
    current_->to = posted.buffer.data();
    current_->posted = &posted;
  } else {
    posted.status.done = true;
  }
  parked_bytes_ -= header.length;
  parked_.erase(parked);
}

void Inbox::unpost(const Posted& posted) {
  if (posted.status.done) return;
  if (current_ && current_->posted == &posted) {
    current_->posted = nullptr;
    current_->to = nullptr;
    return;
  }
  const auto found = posted_.find({posted.from.channel, posted.from.sequence});
  if (found != posted_.end() && found->second == &posted) posted_.erase(found);
}

bool Inbox::pull() {
  std::size_t moved = 0;
  std::size_t available = ring_.available();
  while (available != 0 && moved < kTurn) {
    if (!current_) {
      begin();
      moved += kCell;
    } else {
      const std::size_t rest = current_->header.length - current_->got;
      const std::size_t part = std::min({rest, available, ring_.slice()});
      move_part(part);
      moved += part;
    }
    if (current_->got == current_->header.length) finish();
    ring_.release();
    available = ring_.available();
  }
  return moved != 0;
}

void Inbox::begin() {
  MessageHeader header;
  ring_.read(std::as_writable_bytes(std::span(&header, 1)));
  if (header.magic != kMessageMagic) {
    throw Error(Fault::wire,
                fmt::format("rank {} wrote something else than a message into its ring", peer_));
  }
  const auto found = posted_.find({header.channel, header.sequence});
  if (found == posted_.end()) {
    park(header);
    return;
  }
  Posted& posted = *found->second;
  check_fits(header, posted);
  posted.status.arrival = {header.length, header.stamp};
  current_ = {.header = header, .to = posted.buffer.data(), .posted = &posted};
  posted_.erase(found);
}

void Inbox::park(const MessageHeader& header) {
  if (header.length > kMostParked - parked_bytes_) {
    throw Error(
        Fault::wire,
        fmt::format("rank {} sent {} bytes that nobody asked for yet, on top of {} (channel "
                    "{}, message {}): it is out of step",
                    peer_, header.length, parked_bytes_, header.channel, header.sequence));
  }
  Parked parked{.header = header, .bytes = nullptr};
  try {
    parked.bytes = std::make_unique_for_overwrite<std::byte[]>(header.length);
  } catch (const std::bad_alloc&) {
    throw Error(Fault::system, fmt::format("no memory for {} bytes of rank {} that nobody asked "
                                           "for yet",
                                           header.length, peer_));
  }
  std::byte* const to = parked.bytes.get();
  const Key key{header.channel, header.sequence};
  if (!parked_.emplace(key, std::move(parked)).second) {
    throw Error(Fault::wire, fmt::format("rank {} sent message {} of channel {} twice", peer_,
                                         header.sequence, header.channel));
  }
  parked_bytes_ += header.length;
  current_ = {.header = header, .to = to};
}

void Inbox::move_part(std::size_t part) {
  if (current_->to)
    ring_.read({current_->to + current_->got, part});
  else
    ring_.skip(part);
  current_->got += part;
}

void Inbox::finish() {
  if (current_->posted) current_->posted->status.done = true;
  current_.reset();
}

}  // namespace narrowcast::shm
