#include "transport/carrying/outgoing.hpp"

#include <algorithm>

namespace narrowcast::carrying {
namespace {

using framing::Header;
using framing::Kind;

constexpr std::size_t kMostBeats = 2;

}  // namespace

bool Outgoing::send(const Slot& to, Bytes message, const Stamp& stamp) {
  std::size_t offset = 0;
  do {
    const std::optional<std::size_t> frame = take(to.peer);
    if (!frame) return false;
    const std::size_t length = std::min(frame_bytes_, message.size() - offset);
    framing::copy_in_steps(message.subspan(offset, length), payload(*frame));
    const std::lock_guard lock(mutex_);
    push(*frame, to.peer,
         {.kind = Kind::message,
          .total = message.size(),
          .offset = offset,
          .length = static_cast<std::uint32_t>(length),
          .channel = to.channel,
          .sequence = to.sequence,
          .stamp = stamp});
    offset += length;
  } while (offset < message.size());
  return true;
}

// A frame of the caller's own, or nothing when woken.
std::optional<std::size_t> Outgoing::take(int peer) {
  std::unique_lock lock(mutex_);
  Peer& to = peers_[peer];
  room_.wait(lock,
             [&] { return woken_ || to.closed || !to.free.empty() || to.made < framing::kFrames; });
  if (woken_ || to.closed) return std::nullopt;
  if (to.free.empty()) {
    ++to.made;
    return make(frame_bytes_);
  }
  const std::size_t frame = to.free.back();
  to.free.pop_back();
  return frame;
}

std::size_t Outgoing::make(std::size_t payload) {
  frames_.push_back(std::make_unique<Frame>());
  frames_.back()->memory.resize(framing::kFrameExtra + payload);
  return frames_.size() - 1;
}

MutableBytes Outgoing::payload(std::size_t frame) {
  const std::lock_guard lock(mutex_);
  return MutableBytes(frames_[frame]->memory).subspan(sizeof(Header));
}

// Under the lock.
std::uint64_t Outgoing::push(std::size_t frame, int peer, Header header) {
  Peer& to = peers_[peer];
  header.number = to.next++;
  Frame& full = *frames_[frame];
  full.peer = peer;
  full.kind = header.kind;
  full.size = framing::finish_frame(full.memory, header);
  full.since = Clock::now();
  to.under_way.push_back(frame);
  to.queue.push_back(frame);
  work_.notify_all();
  return header.number;
}

// Under the lock.
std::uint64_t Outgoing::push_control(int peer, const Header& header, std::string_view text) {
  if (small_.empty()) small_.push_back(make(framing::kLongestText));
  const std::size_t frame = small_.back();
  small_.pop_back();
  copy(std::as_bytes(std::span(text)),
       MutableBytes(frames_[frame]->memory).subspan(sizeof(Header), text.size()));
  return push(frame, peer, header);
}

void Outgoing::beat(int peer, std::uint64_t seen) {
  const std::lock_guard lock(mutex_);
  Peer& to = peers_[peer];
  if (to.closed || to.beats >= kMostBeats) return;
  ++to.beats;
  push_control(peer, {.kind = Kind::alive, .sequence = seen}, {});
}

void Outgoing::acknowledge(int peer, std::uint64_t seen) {
  const std::lock_guard lock(mutex_);
  if (peers_[peer].closed) return;
  ++peers_[peer].beats;
  push_control(peer, {.kind = Kind::alive, .sequence = seen}, {});
}

std::optional<std::uint64_t> Outgoing::farewell(int peer, Kind kind, std::string_view text) {
  text = text.substr(0, framing::kLongestText);
  const std::lock_guard lock(mutex_);
  if (peers_[peer].closed) return std::nullopt;
  return push_control(peer, {.kind = kind, .length = static_cast<std::uint32_t>(text.size())},
                      text);
}

std::optional<Load> Outgoing::next(int peer) {
  std::unique_lock lock(mutex_);
  Peer& to = peers_[peer];
  work_.wait(lock, [&] { return ended_ || !to.queue.empty(); });
  if (to.queue.empty()) return std::nullopt;
  const std::size_t number = to.queue.front();
  to.queue.pop_front();
  return Load{number, MutableBytes(frames_[number]->memory).first(frames_[number]->size)};
}

void Outgoing::carried(std::size_t number) {
  const std::lock_guard lock(mutex_);
  const Frame& frame = *frames_[number];
  Peer& to = peers_[frame.peer];
  std::erase(to.under_way, number);
  if (frame.kind == Kind::alive) --to.beats;
  (frame.kind == Kind::message ? to.free : small_).push_back(number);
  room_.notify_all();
}

std::optional<Clock::time_point> Outgoing::waiting_since(int peer) const {
  const std::lock_guard lock(mutex_);
  const Peer& to = peers_[peer];
  if (to.closed || to.under_way.empty()) return std::nullopt;
  return frames_[to.under_way.front()]->since;
}

void Outgoing::wake() {
  const std::lock_guard lock(mutex_);
  woken_ = true;
  room_.notify_all();
}

void Outgoing::close(int peer) {
  const std::lock_guard lock(mutex_);
  peers_[peer].closed = true;
  room_.notify_all();
}

void Outgoing::drop(int peer) {
  close(peer);
  const std::lock_guard lock(mutex_);
  peers_[peer].queue.clear();
}

void Outgoing::end() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  work_.notify_all();
}

}  // namespace narrowcast::carrying
