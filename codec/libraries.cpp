#include "codec/libraries.hpp"

#include <fmt/core.h>

#include "base/checksum.hpp"
#include "codec/kernel/targets.h"
// After targets.h.

#include <hwy/highway.h>

namespace narrowcast {
namespace {

std::string dotted(int major, int minor, int patch) {
  return fmt::format("{}.{}.{}", major, minor, patch);
}

}  // namespace

std::vector<Library> codec_libraries() {
  return {{"Highway", dotted(HWY_MAJOR, HWY_MINOR, HWY_PATCH)},
          {"xxHash", xxhash_version()},
          {"fmt", dotted(FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100)}};
}

}  // namespace narrowcast
