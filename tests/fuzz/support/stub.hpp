#pragma once

#include <deque>
#include <vector>

#include "base/error.hpp"
#include "transport/transport.hpp"

namespace narrowcast::fuzz {

// A rank among two whose peer says what it is told to say, message after message.
class Stub final : public Transport {
 public:
  explicit Stub(int rank) : rank_(rank) {}

  void will_say(Bytes message, const Stamp& stamp = {}) {
    messages_.push_back({{message.begin(), message.end()}, stamp});
  }

  int rank() const override { return rank_; }
  int size() const override { return 2; }

 private:
  struct Message {
    std::vector<std::byte> bytes;
    Stamp stamp;
  };

  class Done final : public Transfer {
   public:
    explicit Done(const Arrival& arrival) : arrival_(arrival) {}
    Arrival wait() override { return arrival_; }

   private:
    Arrival arrival_;
  };

  std::unique_ptr<Transfer> do_send(const Slot&, Bytes message, const Stamp&) override {
    return std::make_unique<Done>(Arrival{message.size(), {}});
  }

  std::unique_ptr<Transfer> do_receive(const Slot&, MutableBytes buffer) override {
    require(!messages_.empty(), Fault::peer, "the peer has left");
    const Message message = std::move(messages_.front());
    messages_.pop_front();
    require(message.bytes.size() <= buffer.size(), Fault::wire, "longer than what fits");
    copy(message.bytes, buffer);
    return std::make_unique<Done>(Arrival{message.bytes.size(), message.stamp});
  }

  int rank_;
  std::deque<Message> messages_;
};

}  // namespace narrowcast::fuzz
