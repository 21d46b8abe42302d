#pragma once

#include <cstdint>
#include <string>

#include "base/bytes.hpp"

namespace narrowcast {

// XXH3, 64 bits. It finds what wires and bugs do to bytes; whoever wants to can forge it.
std::uint64_t checksum(Bytes bytes, std::uint64_t seed = 0);

// The version of xxHash that this was built with, e.g. "0.8.1".
std::string xxhash_version();

}  // namespace narrowcast
