#pragma once

#include <cstddef>
#include <cstdint>

#include "base/bytes.hpp"

// Elias' omega code (1975): a positive integer preceded by its length, preceded by the length of
// that, and so on; small numbers are short, and none is too large.
namespace narrowcast {

// How many bits `value` takes.
int omega_bits(std::uint64_t value);

// Writes bits into bytes, the first bit lowest. The caller sized the output.
class BitWriter {
 public:
  explicit BitWriter(MutableBytes out) : out_(out) {}

  void bit(std::uint64_t value) { bits(value, 1); }
  void omega(std::uint64_t value);  // value >= 1
  // Fills the last byte up with zeros and returns the bytes used.
  std::size_t finish();

 private:
  void bits(std::uint64_t value, int count);

  MutableBytes out_;
  std::size_t used_ = 0;
  std::uint64_t held_ = 0;
  int count_ = 0;
};

// Reads what BitWriter wrote; Fault::wire for whatever it could not have written.
class BitReader {
 public:
  explicit BitReader(Bytes in) : in_(in) {}

  std::uint64_t bit();
  std::uint64_t omega(std::uint64_t most);  // 1..most
  // Skips the zeros up to the next byte and returns the bytes read.
  std::size_t finish();

 private:
  Bytes in_;
  std::size_t position_ = 0;  // in bits
};

}  // namespace narrowcast
