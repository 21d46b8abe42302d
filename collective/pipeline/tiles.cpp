#include "collective/pipeline/tiles.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "base/error.hpp"

namespace narrowcast {
namespace {

constexpr std::size_t kTile = std::size_t{32} << 10;  // values: 128 KiB of float32

}  // namespace

Tiles::Tiles(Pieces pieces, const Chunk& chunk) : bytes_(chunk.max_bytes) {
  const bool fixed = std::ranges::all_of(chunk.parts, [&](const Part& part) {
    const Promise& promise = pieces[part.piece].codec->promise();
    return promise.fixed_size && promise.block != 0;
  });
  if (!fixed || chunk.values <= kTile) {
    tiles_ = {chunk};
    offsets_ = {0};
    return;
  }
  for (Part left : chunk.parts) {
    const std::size_t block = pieces[left.piece].codec->promise().block;
    const std::size_t step = std::max(kTile / block, std::size_t{1}) * block;
    for (; left.count > 0; left.begin += step, left.count -= std::min(step, left.count))
      parts_.push_back({left.piece, left.begin, std::min(step, left.count)});
  }
  // Small parts share a tile.
  std::size_t offset = 0;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (tiles_.empty() || tiles_.back().values + parts_[i].count > kTile) {
      tiles_.push_back({.parts = std::span<const Part>(parts_).subspan(i, 0)});
      offsets_.push_back(offset);
    }
    Chunk& tile = tiles_.back();
    const std::size_t bytes = packed_bytes(*pieces[parts_[i].piece].codec, parts_[i].count);
    tile.parts = {tile.parts.data(), tile.parts.size() + 1};
    tile.values += parts_[i].count;
    tile.max_bytes += bytes;
    offset += bytes;
  }
}

void Tiles::check(const Message& message) const {
  if (size() > 1 && message.bytes.size() != bytes_)
    throw Error(Fault::wire, fmt::format("from rank {}: {} bytes where {} were due", message.from,
                                         message.bytes.size(), bytes_));
}

}  // namespace narrowcast
