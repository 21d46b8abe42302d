#include "transport/modules/gloo_outbox.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "base/error.hpp"

namespace narrowcast::over_gloo {

using framing::copy_in_steps;
using framing::kLongestText;

Outbox::Outbox(Shared& shared, int peer)
    : shared_(shared), peer_(peer), tag_(stream_tag(shared.context->rank, peer)) {
  for (Beat& beat : beats_) beat.frame = std::make_unique<Frame>(*shared.context, 0);
  answer_.frame = std::make_unique<Frame>(*shared.context, 0);
  farewell_.frame = std::make_unique<Frame>(*shared.context, kLongestText);
}

bool Outbox::send(const Slot& to, Bytes message, const Stamp& stamp) {
  std::size_t offset = 0;
  do {
    Frame* const frame = take_frame();
    if (frame == nullptr) return false;
    const std::size_t length = std::min(shared_.frame_bytes, message.size() - offset);
    copy_in_steps(message.subspan(offset, length), frame->payload());
    post(*frame, {.kind = Kind::message,
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

void Outbox::beat(std::uint64_t seen) {
  const std::lock_guard lock(mutex_);
  Beat& beat = beats_[next_beat_];
  // What has arrived has left the frame. Gloo's word for that is not waited for: if the peer lies it
  // may never come, and then what the peer gets of the frame is its own affair.
  if (beat.number != kNone && heard_ <= beat.number) return;
  post_alive(beat, seen);
  next_beat_ = (next_beat_ + 1) % kBeats;
}

void Outbox::acknowledge(std::uint64_t seen) {
  const std::lock_guard lock(mutex_);
  if (answer_.number == kNone) post_alive(answer_, seen);
}

void Outbox::post_alive(Beat& beat, std::uint64_t seen) {
  told_ = std::max(told_, seen);  // the answer to a farewell may have overtaken a heartbeat
  Header header = {.kind = Kind::alive, .sequence = told_};
  beat.number = post_locked(*beat.frame, header);
}

void Outbox::farewell(Kind kind, std::string_view text) {
  text = text.substr(0, kLongestText);
  const std::lock_guard lock(mutex_);
  if (farewell_.number != kNone) return;
  copy_in_steps(std::as_bytes(std::span(text)), farewell_.frame->payload());
  Header header = {.kind = kind, .length = static_cast<std::uint32_t>(text.size())};
  farewell_.number = post_locked(*farewell_.frame, header);
}

bool Outbox::farewell_heard() const {
  return farewell_.number != kNone && heard_ > farewell_.number;
}

void Outbox::heard(std::uint64_t frames) {
  const std::lock_guard lock(mutex_);
  if (frames < heard_ || frames > next_)
    throw Error(Fault::wire,
                fmt::format("rank {} says it has taken {} frames: it has said {} and was sent {}",
                            peer_, frames, heard_.load(), next_));
  heard_ = frames;
}

void Outbox::wake() {
  const std::lock_guard lock(mutex_);
  woken_ = true;
  for (Frame* frame : waited_for_) frame->buffer().abortWaitSend();
}

// A frame of the caller's own, or nothing when woken. Frames complete in the order in which Gloo
// got them, so the oldest is the one to wait for.
Frame* Outbox::take_frame() {
  std::unique_lock lock(mutex_);
  if (woken_) return nullptr;
  if (under_way_.empty() || frames_.size() < shared_.frames) {
    frames_.push_back(std::make_unique<Frame>(*shared_.context, shared_.frame_bytes));
    return frames_.back().get();
  }
  Frame* const oldest = under_way_.front();
  under_way_.pop_front();
  waited_for_.push_back(oldest);
  lock.unlock();
  const bool done = oldest->buffer().waitSend(kForever);
  lock.lock();
  std::erase(waited_for_, oldest);
  return done && !woken_ ? oldest : nullptr;
}

void Outbox::post(Frame& frame, Header header) {
  const std::lock_guard lock(mutex_);
  post_locked(frame, header);
  under_way_.push_back(&frame);
}

std::uint64_t Outbox::post_locked(Frame& frame, Header& header) {
  header.number = next_;
  const std::size_t size = frame.finish(header);
  shared_.poster->send(frame, peer_, tag_, size);
  return next_++;
}

}  // namespace narrowcast::over_gloo
