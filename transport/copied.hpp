#pragma once

#include "transport/latch.hpp"
#include "transport/transport.hpp"

namespace narrowcast {

// A message that was copied before send() returned, so that there is nothing to wait for.
class Copied final : public Transfer {
 public:
  Copied(const Latch& latch, const Arrival& arrival) : latch_(latch), arrival_(arrival) {}
  Arrival wait() override {
    latch_.check();
    return arrival_;
  }

 private:
  const Latch& latch_;
  Arrival arrival_;
};

}  // namespace narrowcast
