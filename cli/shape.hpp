#pragma once

#include <string_view>

#include "transport/shaped.hpp"

namespace narrowcast::cli {

// "1gbit", "100mbit,200us", "64kbit,1.5ms": bits a second in powers of 1000, as tc(8) writes them,
// and how long a message is on its way. Fault::usage otherwise.
Shape parse_shape(std::string_view text);

}  // namespace narrowcast::cli
