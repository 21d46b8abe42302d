#include "transport/modules/gloo_link.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace narrowcast::over_gloo {
Link::Link(Shared& shared, int peer)
    : shared_(shared),
      peer_(peer),
      outbox_(shared, peer),
      inbox_(std::make_shared<Inbox>(shared, peer)),
      canary_(*shared.context, 0),
      last_heard_(Clock::now()) {
  for (std::size_t i = 0; i < shared.frames; ++i)
    posted_.push_back(std::make_unique<Frame>(*shared.context, shared.frame_bytes));
}

void Link::open(Bytes hello) {
  for (const auto& frame : posted_)
    shared_.poster->receive(*frame, peer_, stream_tag(peer_, shared_.context->rank));
  try {
    // The tag of a stream from the peer to itself, which does not exist.
    canary_.buffer().recv(peer_, stream_tag(peer_, peer_), 0, canary_.size());
  } catch (const gloo::Exception&) {
    lost_ = true;
    return;
  }
  // A message like any other, but for its place: the first that the peer takes.
  outbox_.send({.peer = peer_, .channel = 0, .sequence = 0}, hello, {});
}

void Link::start(std::vector<std::byte> hello) {
  hello_ = std::move(hello);
  last_heard_ = Clock::now();
  watching_ = std::thread([this] { watch(); });
}

void Link::stop() {
  stopping_ = true;
  wake();
  // Stays set until a wait sees it, so it does not matter which frame is waited for by now.
  for (const auto& frame : posted_) frame->buffer().abortWaitRecv();
  if (watching_.joinable()) watching_.join();
}

void Link::send(const Slot& to, Bytes message, const Stamp& stamp) {
  bool sent = false;
  try {
    sent = outbox_.send(to, message, stamp);
  } catch (const std::exception&) {
    look();
  }
  if (!sent) fail_gone();
}

// Somebody has woken us, or Gloo has refused: the reason is the latch's, or will be as soon as the
// thread that takes frames has seen the end of the stream.
void Link::fail_gone() {
  Receipt never = {.from = {.peer = peer_}, .buffer = {}};
  inbox_->wait(never);
  throw Error(Fault::peer, fmt::format("rank {} left", peer_));
}

void Link::look() {
  const std::lock_guard lock(looking_);
  if (lost_) return;
  try {
    // An abort that is waited for right away returns at once, unless there is a fault to throw.
    canary_.buffer().abortWaitRecv();
    canary_.buffer().waitRecv(kForever);
  } catch (const std::exception&) {
    lost_ = true;
    for (const auto& frame : posted_) frame->buffer().abortWaitRecv();
  }
}

void Link::beat(Clock::time_point now) {
  if (lost_ || inbox_->ended()) return;
  try {
    outbox_.beat(taken_);
  } catch (const std::exception&) {
    look();
  }
  if (now - last_heard_.load() < shared_.timeout || inbox_->crowded() || shared_.latch.failed())
    return;
  const std::chrono::duration<double> timeout = shared_.timeout;
  shared_.fail(Error(Fault::peer,
                     fmt::format("rank {} has been silent for {:g} s", peer_, timeout.count())));
}

void Link::farewell(const std::optional<std::string>& fault) {
  if (lost_) return;
  try {
    outbox_.farewell(fault ? Kind::failed : Kind::left, fault.value_or(""));
  } catch (const std::exception&) {
    look();
  }
}

bool Link::parted() { return lost_ || outbox_.farewell_heard() || inbox_->ended(); }

void Link::wake() {
  inbox_->wake();
  if (stopping_ || shared_.latch.failed()) outbox_.wake();
}

// Takes frames until there are no more. When the connection ends, that was to be expected if the
// peer had said farewell. One that has not even said hello is the business of those who meet.
void Link::watch() noexcept {
  try {
    take_all();
    lost_ = true;
    if (met_ && !stopping_ && !farewell_heard_)
      shared_.fail(Error(Fault::peer, fmt::format("rank {} died", peer_)));
  } catch (const Error& error) {
    shared_.fail(error);
  } catch (const std::exception& error) {
    shared_.fail(
        Error(Fault::system, fmt::format("receiving from rank {}: {}", peer_, error.what())));
  }
  inbox_->end();
  outbox_.wake();
  shared_.note_progress();
}

void Link::take_all() {
  while (await_frame()) {
    last_heard_ = Clock::now();
    take_frame();
    inbox_->make_room();
    recycle();
  }
}

// False when no more frames come. A frame that came whole before the connection was lost counts.
bool Link::await_frame() {
  Frame& frame = next_frame();
  if (!lost_) {
    try {
      if (frame.buffer().waitRecv(kForever)) {
        if (!frame.holds(taken_))
          throw Error(Fault::wire, fmt::format("{}rank {} sent bytes that are no frame",
                                               met_ ? "" : "what connected as ", peer_));
        return true;
      }
    } catch (const gloo::Exception&) {
      lost_ = true;
    }
  }
  return !stopping_ && frame.holds(taken_);
}

void Link::take_frame() {
  Frame& frame = next_frame();
  const Header header = frame.header();
  if (!met_) return take_hello(header);
  switch (header.kind) {
    case Kind::message:
      inbox_->take(header, Bytes(frame.payload()).first(header.length));
      return;
    case Kind::alive:
      outbox_.heard(header.sequence);
      shared_.note_progress();
      return;
    case Kind::left:
    case Kind::failed:
      hear_farewell(header);
      return;
  }
  throw Error(Fault::wire, fmt::format("rank {} sent a frame of unknown kind", peer_));
}

void Link::take_hello(const Header& header) {
  const Bytes said = Bytes(next_frame().payload()).first(header.length);
  if (header.kind != Kind::message || !std::ranges::equal(said, hello_))
    throw Error(Fault::wire,
                fmt::format("what connected as rank {} is of another run or version", peer_));
  met_ = true;
  shared_.note_progress();
}

void Link::hear_farewell(const Header& header) {
  farewell_heard_ = true;
  if (header.kind == Kind::failed) {
    const std::string why = framing::printable(Bytes(next_frame().payload()).first(header.length));
    shared_.fail_by_hearsay(Error(Fault::peer, fmt::format("rank {} gave up: {}", peer_, why)));
  }
  try {
    outbox_.acknowledge(taken_ + 1);
  } catch (const gloo::Exception&) {
    lost_ = true;  // it is gone already
  }
}

// Gives the frame back to Gloo for the one that comes a round later.
void Link::recycle() {
  Frame& frame = next_frame();
  ++taken_;
  if (lost_) return;
  shared_.poster->receive(frame, peer_, stream_tag(peer_, shared_.context->rank));
}

}  // namespace narrowcast::over_gloo
