#include "base/checksum.hpp"

#include <fmt/core.h>
#include <xxhash.h>

namespace narrowcast {

std::uint64_t checksum(Bytes bytes, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

std::string xxhash_version() {
  return fmt::format("{}.{}.{}", XXH_VERSION_MAJOR, XXH_VERSION_MINOR, XXH_VERSION_RELEASE);
}

}  // namespace narrowcast
