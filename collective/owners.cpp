#include "collective/pipeline/layout.hpp"

namespace narrowcast {

Shard owned(const Piece& piece, int rank, int ranks) {
  const Layout layout = Layout::shards({&piece, 1}, ranks, piece.values.size());
  const std::span<const Chunk> chunks = layout.shard(rank);
  if (chunks.empty()) return {};
  return {chunks.front().parts.front().begin, layout.extent(rank).values};
}

}  // namespace narrowcast
