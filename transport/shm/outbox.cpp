#include "transport/shm/outbox.hpp"

#include <algorithm>

namespace narrowcast::shm {

void Outbox::send(const Slot& to, Bytes message, const Stamp& stamp, Status& status) {
  status.arrival = {message.size(), stamp};
  queue_.push_back({.header = {.magic = kMessageMagic,
                               .channel = to.channel,
                               .sequence = to.sequence,
                               .length = message.size(),
                               .stamp = stamp,
                               .unused = {}},
                    .rest = message,
                    .status = &status,
                    .begun = false,
                    .kept = nullptr});
  if (queue_.size() == 1) push();
}

void Outbox::cancel(const Status& status) {
  const auto found = std::ranges::find(queue_, &status, &Outgoing::status);
  if (found == queue_.end()) return;
  if (!found->begun) {
    queue_.erase(found);
    return;
  }
  found->kept = std::make_unique_for_overwrite<std::byte[]>(found->rest.size());
  copy(found->rest, {found->kept.get(), found->rest.size()});
  found->rest = {found->kept.get(), found->rest.size()};
  found->status = nullptr;
}

bool Outbox::push() {
  bool moved = false;
  while (!queue_.empty()) {
    Outgoing& message = queue_.front();
    if (push(message)) moved = true;
    if (!message.begun || !message.rest.empty()) break;
    if (message.status) message.status->done = true;
    queue_.pop_front();
  }
  return moved;
}

bool Outbox::push(Outgoing& message) {
  std::size_t room = ring_.room();
  if (room == 0) return false;
  if (!message.begun) {
    ring_.write(std::as_bytes(std::span(&message.header, 1)));
    message.begun = true;
    room -= kCell;
  }
  while (!message.rest.empty() && room != 0) {
    const std::size_t part = std::min({message.rest.size(), room, ring_.slice()});
    ring_.write(message.rest.first(part));
    message.rest = message.rest.subspan(part);
    ring_.publish();
    room = ring_.room();
  }
  ring_.publish();
  return true;
}

}  // namespace narrowcast::shm
