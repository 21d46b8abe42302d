#pragma once

#include <vector>

#include "collective/pipeline/packing.hpp"

namespace narrowcast {

// A chunk in pieces that stay in a core's own cache while they are decoded, added up and encoded
// again. Where a piece's bytes begin in the message is known for codecs of fixed size only; a chunk
// with others is one tile.
class Tiles {
 public:
  Tiles(Pieces pieces, const Chunk& chunk);

  std::size_t size() const { return tiles_.size(); }
  const Chunk& at(std::size_t index) const { return tiles_[index]; }
  // The bytes of a tile in a message of the whole chunk, which has been checked.
  Bytes in(Bytes message, std::size_t index) const {
    return size() == 1 ? message : message.subspan(offsets_[index], tiles_[index].max_bytes);
  }
  MutableBytes in(MutableBytes message, std::size_t index) const {
    return message.subspan(offsets_[index], tiles_[index].max_bytes);
  }
  // Fault::wire, naming the rank, for a message that cannot be one of the chunk.
  void check(const Message& message) const;

 private:
  std::vector<Part> parts_;
  std::vector<Chunk> tiles_;
  std::vector<std::size_t> offsets_;
  std::size_t bytes_ = 0;
};

}  // namespace narrowcast
