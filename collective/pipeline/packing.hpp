#pragma once

#include <cstddef>
#include <cstdint>

#include "collective/pipeline/layout.hpp"

namespace narrowcast {

// The most bytes that part of a piece takes in a message. Parts of fixed size stand one after the
// other; before one whose size varies stands its length, u32.
std::size_t packed_bytes(const Codec& codec, std::size_t values);

enum class Leftover { none, sender, owner };  // which residual takes part

// Who encodes, for the dice.
struct Thrower {
  std::uint32_t rank = 0;
  Stage stage = Stage::first;
  std::uint32_t hop = 0;
};

// The encoded values of one chunk, and who they came from.
struct Message {
  int from = 0;
  Bytes bytes;
};

// Encodes and decodes chunks in place: a chunk's values are those of its pieces.
class Packing {
 public:
  Packing(Pieces pieces, const Travel& travel, Conversation& group)
      : pieces_(pieces), travel_(travel), group_(&group) {}

  // Returns how many bytes were written; `out` has room for chunk.max_bytes.
  std::size_t pack(const Chunk& chunk, MutableBytes out, const Thrower& who,
                   Leftover feedback) const;

  // values = x'. A message that cannot be one is Fault::wire and names the rank it came from.
  void unpack(const Chunk& chunk, const Message& message) const;
  // The same of a result: divided by the number of ranks when the average is wanted. The message may
  // have come straight into the values, see as_bytes().
  void unpack(const Chunk& chunk, const Message& message, Result result) const;
  // values += x'
  void add(const Chunk& chunk, const Message& message) const;
  // The values of all parts, one after the other; values stay as they are.
  void unpack_to(const Chunk& chunk, const Message& message, MutableFloats out) const;
  // Rounds numbers to a piece's format, under its exponent. They stand in place of `part`.
  void round(const Part& part, MutableFloats numbers, const Thrower& who) const;
  // Whether encoding and decoding leaves every bit as it is, so that it can be left out.
  bool is_identity(const Chunk& chunk) const;
  // The values of such a chunk as the bytes that would travel, where they lie in one place; else
  // nothing.
  MutableBytes as_bytes(const Chunk& chunk) const;
  // values /= ranks
  void divide(const Chunk& chunk) const;

  Pieces pieces() const { return pieces_; }
  MutableFloats values(const Part& part) const {
    return pieces_[part.piece].values.subspan(part.begin, part.count);
  }

 private:
  Encoding encoding(const Part& part, const Thrower& who, Leftover feedback) const;
  template <class Take>
  void each_part(const Chunk& chunk, const Message& message, const Take& take) const;

  Pieces pieces_;
  Travel travel_;
  Conversation* group_;
};

}  // namespace narrowcast
