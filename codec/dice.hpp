#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/random.hpp"
#include "codec/kernel/kernels.hpp"

namespace narrowcast {

// The random bits of up to kMost consecutive values, made when asked for.
class DiceCup {
 public:
  static constexpr std::size_t kMost = 4096;

  explicit DiceCup(const Stream& stream) : stream_(stream) {}

  // Sixteen bits for each index from `first` on. Kernels may read a unit past the end.
  const std::uint16_t* shake(std::uint64_t first, std::size_t count) {
    const std::uint64_t group = first / kRandomGroup;
    const std::size_t offset = first % kRandomGroup;
    kernel::active().random16(stream_, group, (offset + count + kRandomGroup - 1) / kRandomGroup,
                              bits_.data());
    return bits_.data() + offset;
  }

 private:
  Stream stream_;
  std::array<std::uint16_t, kMost + 3 * kRandomGroup> bits_;
};

}  // namespace narrowcast
