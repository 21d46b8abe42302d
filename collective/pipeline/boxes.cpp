#include "collective/pipeline/boxes.hpp"

#include <algorithm>

namespace narrowcast {

MutableBytes Outbox::next() {
  finish(tickets_[used_ % buffers_.count]);
  const MutableBytes buffer = buffers_.at(used_++);
  message_ = buffer;
  return buffer;
}

void Outbox::lend(Bytes message) {
  finish(tickets_[used_++ % buffers_.count]);
  message_ = message;
}

void Outbox::send(int peer, std::size_t bytes, int lane) {
  tickets_[(used_ - 1) % buffers_.count].push_back(
      group_.net().send(group_.next_to(peer, lane), message_.first(bytes)));
}

void Outbox::drain() {
  // In the order they were sent.
  for (std::size_t i = 0; i < buffers_.count; ++i) finish(tickets_[(used_ + i) % buffers_.count]);
}

void Outbox::finish(std::vector<Ticket>& tickets) {
  if (tickets.empty()) return;
  const Span span(group_, Work::wire);
  for (Ticket& ticket : tickets) ticket.wait();
  tickets.clear();
}

void Inbox::expect(int peer, std::size_t bytes) {
  expected_.push_back({peer, bytes, {}});
  post();
}

void Inbox::expect_into(int peer, MutableBytes place) {
  expected_.push_back({peer, place.size(), place});
  post();
}

// Buffers go round, so the next one is the one whose message was read longest ago.
void Inbox::post() {
  while (!expected_.empty() && posted_.size() + lent_ < buffers_.count) {
    const std::size_t buffer = used_ % buffers_.count;
    const std::size_t age = buffers_.count - posted_.size();  // 1: the last message was in it
    if (age <= hold_ && !posted_.empty() && !passed_[buffer].empty()) return;
    finish(buffer);
    ++used_;
    const auto [peer, bytes, place] = expected_.front();
    expected_.pop_front();
    const MutableBytes room = place.empty() ? buffers_.at(buffer).first(bytes) : place;
    posted_.push_back(
        {buffer, peer, group_.net().receive(group_.next_from(peer, lane_), room), room});
  }
}

Message Inbox::next() {
  last_ = std::move(posted_.front());
  posted_.pop_front();
  ++lent_;
  const Span span(group_, Work::wire);
  message_ = last_.bytes.first(last_.ticket.wait().length);
  return {last_.peer, message_};
}

void Inbox::pass_on(int peer, int lane) {
  passed_[last_.buffer].push_back(group_.net().send(group_.next_to(peer, lane), message_));
}

void Inbox::release() {
  lent_ = 0;
  post();
}

void Inbox::drain() {
  for (std::size_t i = 0; i < buffers_.count; ++i) finish((used_ + i) % buffers_.count);
}

void Inbox::finish(std::size_t buffer) {
  if (passed_[buffer].empty()) return;
  const Span span(group_, Work::wire);
  for (Ticket& ticket : passed_[buffer]) ticket.wait();
  passed_[buffer].clear();
}

std::vector<Buffers> share(Conversation& group, const Layout& layout,
                           std::span<const Demand> demands, std::size_t allowance) {
  // Whole cache lines each, so that neighbours do not disturb each other.
  constexpr std::size_t kLine = 64;
  const std::size_t bytes = (layout.largest() + kLine - 1) / kLine * kLine;
  const auto fits = [&](std::size_t numerator) {
    std::size_t count = 0;
    for (const Demand& demand : demands)
      count += std::max(demand.least, demand.best * numerator / 8);
    return count * bytes <= allowance;
  };
  std::size_t eighths = 8;
  while (eighths > 0 && !fits(eighths)) --eighths;

  std::vector<Buffers> shares;
  std::size_t total = 0;
  for (const Demand& demand : demands) {
    const std::size_t count = std::max(demand.least, demand.best * eighths / 8);
    shares.push_back({.memory = nullptr, .bytes = bytes, .count = count});
    total += count;
  }
  std::byte* memory = group.scratch(total * bytes).data();
  for (Buffers& each : shares) {
    each.memory = memory;
    memory += each.count * each.bytes;
  }
  return shares;
}

}  // namespace narrowcast
