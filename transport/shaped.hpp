#pragma once

#include <chrono>
#include <memory>
#include <string_view>

#include "transport/transport.hpp"

namespace narrowcast {

// The link that a rank's messages leave by.
struct Shape {
  double bytes_per_second = 0;  // at least 1; may be infinite
  std::chrono::nanoseconds latency{0};
};

// "1gbit", "100mbit,200us", "64kbit,1.5ms": bits a second in powers of 1000, as tc(8) writes them,
// and how long a message is on its way. Fault::usage otherwise.
Shape parse_shape(std::string_view text);

// As slow as that link, if `inner` is faster. A rank's messages leave one after another, whoever
// they are for: one departs when its bytes have passed the link, and is handed to `inner` a latency
// later. Waiting for a send waits for the departure, as with a link that has no buffer. Messages
// are copied, and the waiting is done by threads of its own.
std::unique_ptr<Transport> shaped(std::unique_ptr<Transport> inner, const Shape& shape);

}  // namespace narrowcast
