#include "transport/carrying/lane.hpp"

#include <algorithm>

namespace narrowcast::carrying {
namespace {

using framing::Header;
using framing::Kind;

// Less than this of a message is not worth a record in a frame that is nearly full.
constexpr std::size_t kWorthwhile = 4096;

}  // namespace

bool Lane::send(const Slot& to, Bytes message, const Stamp& stamp) {
  std::size_t offset = 0;
  std::unique_lock lock(mutex_);
  do {
    room_.wait(lock, [&] { return woken_ || closed_ || has_room(); });
    if (woken_ || closed_) return false;
    Records& records = open().records;
    const std::size_t length = std::min(records.room().value_or(0), message.size() - offset);
    records.put({.kind = Kind::message,
                 .total = message.size(),
                 .offset = offset,
                 .channel = to.channel,
                 .sequence = to.sequence,
                 .stamp = stamp},
                message.subspan(offset, length));
    offset += length;
  } while (offset < message.size());
  return true;
}

// Whether the last frame can be added to, or there may be another. What is under way is never full:
// heartbeats and farewells always find room.
bool Lane::has_room() const {
  return under_way_.size() < framing::kFrames ||
         (!queue_.empty() && frames_[queue_.back()]->records.room().value_or(0) >= kWorthwhile);
}

// The frame that records are added to.
Lane::Frame& Lane::open() {
  if (!queue_.empty() && frames_[queue_.back()]->records.room().value_or(0) >= kWorthwhile)
    return *frames_[queue_.back()];
  if (free_.empty()) {
    free_.push_back(frames_.size());
    frames_.push_back(std::make_unique<Frame>(frame_bytes_));
  }
  const std::size_t frame = free_.back();
  free_.pop_back();
  frames_[frame]->records.clear();
  frames_[frame]->since = Clock::now();
  queue_.push_back(frame);
  under_way_.push_back(frame);
  work_.notify_all();
  return *frames_[frame];
}

// Returns how many frames there will have been with it.
std::uint64_t Lane::put_control(const Header& header, std::string_view text) {
  open().records.put(header, std::as_bytes(std::span(text)));
  return next_ + queue_.size();
}

void Lane::beat(std::uint64_t seen) {
  const std::lock_guard lock(mutex_);
  if (!closed_ && queue_.empty()) put_control({.kind = Kind::alive, .sequence = seen}, {});
}

void Lane::acknowledge(std::uint64_t seen) {
  const std::lock_guard lock(mutex_);
  if (!closed_) put_control({.kind = Kind::alive, .sequence = seen}, {});
}

std::optional<std::uint64_t> Lane::farewell(Kind kind, std::string_view text) {
  const std::lock_guard lock(mutex_);
  if (closed_) return std::nullopt;
  return put_control({.kind = kind}, text.substr(0, framing::kLongestText));
}

std::optional<Load> Lane::next() {
  std::unique_lock lock(mutex_);
  work_.wait(lock, [&] { return ended_ || !queue_.empty(); });
  if (queue_.empty()) return std::nullopt;
  const std::size_t frame = queue_.front();
  queue_.pop_front();
  return Load{frame, frames_[frame]->records.finish(next_++)};
}

void Lane::carried(std::size_t frame) {
  const std::lock_guard lock(mutex_);
  std::erase(under_way_, frame);
  free_.push_back(frame);
  room_.notify_all();
}

std::optional<Clock::time_point> Lane::waiting_since() const {
  const std::lock_guard lock(mutex_);
  if (closed_ || under_way_.empty()) return std::nullopt;
  return frames_[under_way_.front()]->since;
}

void Lane::wake() {
  const std::lock_guard lock(mutex_);
  woken_ = true;
  room_.notify_all();
}

void Lane::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  room_.notify_all();
}

void Lane::drop() {
  close();
  const std::lock_guard lock(mutex_);
  queue_.clear();
}

void Lane::end() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  work_.notify_all();
}

}  // namespace narrowcast::carrying
