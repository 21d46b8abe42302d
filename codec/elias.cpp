#include "codec/elias.hpp"

#include <array>
#include <bit>

#include "base/error.hpp"

namespace narrowcast {

int omega_bits(std::uint64_t value) {
  int bits = 1;
  for (; value > 1; value = static_cast<std::uint64_t>(std::bit_width(value)) - 1)
    bits += static_cast<int>(std::bit_width(value));
  return bits;
}

// The groups come out of the definition last first, each with its highest bit first.
void BitWriter::omega(std::uint64_t value) {
  std::array<std::uint64_t, 8> groups;
  std::size_t depth = 0;
  for (; value > 1; value = static_cast<std::uint64_t>(std::bit_width(value)) - 1)
    groups[depth++] = value;
  while (depth-- > 0)
    for (int at = static_cast<int>(std::bit_width(groups[depth])) - 1; at >= 0; --at)
      bit(groups[depth] >> at & 1);
  bit(0);
}

void BitWriter::bits(std::uint64_t value, int count) {
  held_ |= value << count_;
  for (count_ += count; count_ >= 8; count_ -= 8, held_ >>= 8)
    out_[used_++] = static_cast<std::byte>(held_);
}

std::size_t BitWriter::finish() {
  if (count_ > 0) out_[used_++] = static_cast<std::byte>(held_);
  held_ = 0;
  count_ = 0;
  return used_;
}

std::uint64_t BitReader::bit() {
  require(position_ / 8 < in_.size(), Fault::wire, "decode: message ends within a number");
  const auto byte = std::to_integer<std::uint64_t>(in_[position_ / 8]);
  return byte >> (position_++ % 8) & 1;
}

std::uint64_t BitReader::omega(std::uint64_t most) {
  std::uint64_t value = 1;
  while (bit() == 1) {
    // `value` is now one less than the length of the group that has just begun.
    require(value < 64, Fault::wire, "decode: number out of range");
    std::uint64_t group = 1;
    for (std::uint64_t i = 0; i < value; ++i) group = group << 1 | bit();
    require(group <= most || group < 64, Fault::wire, "decode: number out of range");
    value = group;
  }
  require(value <= most, Fault::wire, "decode: number out of range");
  return value;
}

std::size_t BitReader::finish() {
  while (position_ % 8 != 0) require(bit() == 0, Fault::wire, "decode: padding bits are not zero");
  return position_ / 8;
}

}  // namespace narrowcast
