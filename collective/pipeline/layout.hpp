#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "collective/collective.hpp"

namespace narrowcast {

// A run of values of one piece.
struct Part {
  std::size_t piece = 0;
  std::size_t begin = 0;
  std::size_t count = 0;
};

// What travels as one message: parts of one shard, in the order of the pieces.
struct Chunk {
  std::span<const Part> parts;
  std::size_t values = 0;
  std::size_t max_bytes = 0;
};

// How much something is, all together.
struct Extent {
  std::size_t chunks = 0;
  std::size_t values = 0;
  std::size_t bytes = 0;
};

// Cuts pieces into shards, and shards into chunks, at block borders only.
//
// Every piece is cut by itself, into as many shards as there are ranks, and its first shard goes to
// rank `tensor % ranks`: so the owner of a value depends on nothing but its tensor, and pieces too
// small to cut do not all end at rank 0.
class Layout {
 public:
  static Layout shards(Pieces pieces, int ranks, std::size_t chunk);
  // Shard r is pieces[r].
  static Layout one_each(Pieces pieces, std::size_t chunk);
  // All in shard 0.
  static Layout whole(Pieces pieces, std::size_t chunk);

  int size() const { return static_cast<int>(chunks_.size()); }
  std::span<const Chunk> shard(int index) const { return chunks_[index]; }
  // Chunk `row` of a shard; empty when the shard has fewer.
  Chunk at(int index, std::size_t row) const {
    return row < chunks_[index].size() ? chunks_[index][row] : Chunk{};
  }

  std::size_t rows() const;     // the most chunks that a shard has
  std::size_t largest() const;  // the most bytes that a chunk takes
  Extent extent(int shard) const;
  Extent extent() const;  // of all shards

 private:
  Layout(std::vector<std::vector<Part>> parts, Pieces pieces, std::size_t chunk);

  std::vector<std::vector<Part>> parts_;  // by shard; chunks_ points into it
  std::vector<std::vector<Chunk>> chunks_;
};

// The most scratch memory that a collective may use: one encoded copy, and two chunks of the size
// that was asked for.
std::size_t allowance(Pieces pieces, const Layout& layout, const Travel& travel);

}  // namespace narrowcast
