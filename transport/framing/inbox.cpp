#include "transport/framing/inbox.hpp"

#include <fmt/core.h>

namespace narrowcast::framing {
namespace {

// What may come from one peer before anybody asks for it. Beyond that the peer has to wait.
constexpr std::size_t kMostParked = std::size_t{256} << 20;

}  // namespace

void Inbox::post(Receipt& receipt) {
  const Key key = {receipt.from.channel, receipt.from.sequence};
  std::optional<Error> error;
  {
    const std::lock_guard lock(mutex_);
    if (!posted_.emplace(key, &receipt).second)
      throw Error(Fault::usage, fmt::format("two receives for one message of rank {}", peer_));
    try {
      adopt(receipt, key);
    } catch (const Error& unfit) {
      posted_.erase(key);
      error = unfit;
    }
    if (receipt.done) posted_.erase(key);
  }
  if (error) faults_.fail(*error);
}

// What is here of the message already. Called under the lock.
void Inbox::adopt(Receipt& receipt, const Key& key) {
  const auto found = parked_.find(key);
  if (found == parked_.end() || found->second.dropped) return;
  Parked& parked = found->second;
  if (parked.total > receipt.buffer.size())
    throw too_long(receipt.from, parked.total, receipt.buffer.size());
  copy_in_steps(parked.bytes, receipt.buffer);
  receipt.arrival = {parked.total, parked.stamp};
  receipt.came = parked.came;
  receipt.begun = true;
  receipt.done = receipt.came == parked.total;
  parked_bytes_ -= parked.bytes.size();
  parked_.erase(found);
  changed_.notify_all();
}

void Inbox::withdraw(Receipt& receipt) {
  const std::lock_guard lock(mutex_);
  const Key key = {receipt.from.channel, receipt.from.sequence};
  const auto found = posted_.find(key);
  if (found == posted_.end() || found->second != &receipt) return;
  posted_.erase(found);
  if (receipt.begun)
    parked_[key] = {.bytes = {},
                    .came = receipt.came,
                    .total = receipt.arrival.length,
                    .stamp = {},
                    .dropped = true};
}

Arrival Inbox::wait(Receipt& receipt) {
  bool done = false;  // a part may come while the peer is given up for lost
  std::string why;
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return receipt.done || ended_ || faults_.latch.failed(); });
    done = receipt.done;
    why = why_;
  }
  faults_.latch.check();
  if (!done) {
    faults_.fail(Error(Fault::peer, why.empty() ? fmt::format("rank {} left", peer_) : why));
    faults_.latch.check();
  }
  return receipt.arrival;
}

void Inbox::take(const Header& header, Bytes payload) {
  const Key key = {header.channel, header.sequence};
  const std::lock_guard lock(mutex_);
  if (const auto found = posted_.find(key); found != posted_.end()) {
    Receipt& receipt = *found->second;
    take_into(receipt, header, payload);
    if (!receipt.done) return;
    posted_.erase(found);
    changed_.notify_all();
  } else {
    take_parked(key, header, payload);
  }
}

void Inbox::take_into(Receipt& receipt, const Header& header, Bytes payload) {
  if (!receipt.begun) {
    if (header.total > receipt.buffer.size())
      throw too_long(receipt.from, header.total, receipt.buffer.size());
    receipt.arrival = {header.total, header.stamp};
    receipt.begun = true;
  }
  if (header.offset != receipt.came || header.total != receipt.arrival.length ||
      payload.size() > header.total - header.offset)
    throw out_of_order(header);
  copy_in_steps(payload, receipt.buffer.subspan(receipt.came));
  receipt.came += payload.size();
  receipt.done = receipt.came == header.total;
}

void Inbox::take_parked(const Key& key, const Header& header, Bytes payload) {
  const auto [found, is_new] = parked_.try_emplace(key);
  Parked& parked = found->second;
  if (is_new) {
    parked.total = header.total;
    parked.stamp = header.stamp;
  }
  if (header.offset != parked.came || header.total != parked.total ||
      payload.size() > header.total - header.offset)
    throw out_of_order(header);
  parked.came += payload.size();
  if (!parked.dropped) {
    parked.bytes.insert(parked.bytes.end(), payload.begin(), payload.end());
    parked_bytes_ += payload.size();
  } else if (parked.came == parked.total) {
    parked_.erase(found);
  }
}

void Inbox::make_room() {
  std::unique_lock lock(mutex_);
  if (parked_bytes_ <= kMostParked) return;
  crowded_ = true;
  const bool room = changed_.wait_for(lock, faults_.timeout, [&] {
    return parked_bytes_ <= kMostParked || ended_ || faults_.latch.failed();
  });
  crowded_ = false;
  if (!room)
    throw Error(Fault::peer, fmt::format("rank {} has sent {} MiB that nobody here receives", peer_,
                                         kMostParked >> 20));
}

void Inbox::end(std::string why) {
  const std::lock_guard lock(mutex_);
  if (!ended_) why_ = std::move(why);
  ended_ = true;
  changed_.notify_all();
}

bool Inbox::ended() {
  const std::lock_guard lock(mutex_);
  return ended_;
}

void Inbox::wake() {
  const std::lock_guard lock(mutex_);
  changed_.notify_all();
}

Error Inbox::too_long(const Slot& slot, std::size_t length, std::size_t room) const {
  return {Fault::wire, fmt::format("rank {} sent {} bytes where {} fit (channel {}, message {})",
                                   peer_, length, room, slot.channel, slot.sequence)};
}

Error Inbox::out_of_order(const Header& header) const {
  return {Fault::wire,
          fmt::format("rank {} sent parts that do not fit together (channel {}, message {})", peer_,
                      header.channel, header.sequence)};
}

}  // namespace narrowcast::framing
