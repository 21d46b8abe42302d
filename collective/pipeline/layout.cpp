#include "collective/pipeline/layout.hpp"

#include <algorithm>

#include "collective/chunking.hpp"
#include "collective/pipeline/packing.hpp"

namespace narrowcast {
namespace {

// Shards and chunks of pieces with small blocks are cut at multiples of this: a call for a few
// values costs more than it saves.
constexpr std::size_t kGrain = 256;

// The smallest multiple of the block that is worth a call; 0: may not be cut.
std::size_t grain_of(const Codec& codec) {
  const std::size_t block = codec.promise().block;
  return block == 0 ? 0 : (kGrain + block - 1) / block * block;
}

std::size_t grains_in(std::size_t values, std::size_t grain) {
  return grain == 0 ? 1 : (values + grain - 1) / grain;
}

// Where shard `index` of a piece begins.
std::size_t shard_begin(std::size_t values, std::size_t grain, int index, int ranks) {
  if (index == ranks || values == 0) return values;
  const std::size_t grains = grains_in(values, grain);
  // Without overflow for any number of grains.
  const std::size_t first = grains / ranks * index + grains % ranks * index / ranks;
  return grain == 0 ? 0 : std::min(values, first * grain);
}

// Chunks of a size at which every shard has kChunks of them: that is what pipelining needs, and within
// the memory there is. Not so small, though, that messages cost more than their bytes; nor so large
// that a message to and from every rank takes more memory than two chunks of the size asked for.
std::size_t chunk_for(Pieces pieces, int ranks, std::size_t most) {
  std::size_t values = 0;
  std::size_t bytes = 0;
  for (const Piece& piece : pieces) {
    values += piece.values.size();
    bytes += piece.codec->max_bytes(piece.values.size());
  }
  const std::size_t even = (values / ranks + kChunks - 1) / kChunks;
  const auto worthwhile = static_cast<std::size_t>(kWorthwhileBytes * static_cast<double>(values) /
                                                   static_cast<double>(bytes + 1));
  const std::size_t least = std::clamp(most / (2 * static_cast<std::size_t>(ranks)), kGrain,
                                       std::max(kGrain, worthwhile));
  return std::min(most, std::max(even, least));
}

// Fills chunks one after the other.
class Cutter {
 public:
  Cutter(Pieces pieces, std::size_t chunk) : pieces_(pieces), chunk_(chunk) {}

  // How many of the next `left` values of a piece still go into the current chunk; 0: none.
  std::size_t fitting(const Part& part) const {
    const std::size_t room = chunk_ > filled_ ? chunk_ - filled_ : 0;
    if (part.count <= room) return part.count;
    const std::size_t grain = grain_of(*pieces_[part.piece].codec);
    if (grain == 0) return filled_ == 0 ? part.count : 0;
    const std::size_t whole = room / grain * grain;
    return whole == 0 && filled_ == 0 ? std::min(grain, part.count) : std::min(whole, part.count);
  }

  std::vector<std::vector<Part>> cut(std::span<const Part> shard) {
    std::vector<std::vector<Part>> chunks;
    filled_ = chunk_;  // the first part opens the first chunk
    for (Part left : shard)
      while (left.count > 0) {
        if (filled_ >= chunk_ || fitting(left) == 0) {
          chunks.emplace_back();
          filled_ = 0;
        }
        const std::size_t taken = fitting(left);
        chunks.back().push_back({left.piece, left.begin, taken});
        filled_ += taken;
        left.begin += taken;
        left.count -= taken;
      }
    return chunks;
  }

 private:
  Pieces pieces_;
  std::size_t chunk_;
  std::size_t filled_ = 0;
};

}  // namespace

Layout::Layout(std::vector<std::vector<Part>> parts, Pieces pieces, std::size_t chunk)
    : parts_(parts.size()), chunks_(parts.size()) {
  Cutter cutter(pieces, std::max<std::size_t>(1, chunk));
  for (std::size_t shard = 0; shard < parts.size(); ++shard) {
    const std::vector<std::vector<Part>> cut = cutter.cut(parts[shard]);
    for (const std::vector<Part>& each : cut)
      parts_[shard].insert(parts_[shard].end(), each.begin(), each.end());
    std::size_t first = 0;
    for (const std::vector<Part>& each : cut) {
      Chunk made{.parts = std::span<const Part>(parts_[shard]).subspan(first, each.size())};
      for (const Part& part : each) {
        made.values += part.count;
        made.max_bytes += packed_bytes(*pieces[part.piece].codec, part.count);
      }
      first += each.size();
      chunks_[shard].push_back(made);
    }
  }
}

Layout Layout::shards(Pieces pieces, int ranks, std::size_t chunk) {
  std::vector<std::vector<Part>> parts(ranks);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const std::size_t values = pieces[i].values.size();
    const std::size_t grain = grain_of(*pieces[i].codec);
    for (int shard = 0; shard < ranks; ++shard) {
      const std::size_t begin = shard_begin(values, grain, shard, ranks);
      const std::size_t end = shard_begin(values, grain, shard + 1, ranks);
      const auto owner = (shard + pieces[i].tensor % ranks) % ranks;
      if (end > begin) parts[owner].push_back({i, begin, end - begin});
    }
  }
  return {std::move(parts), pieces, chunk_for(pieces, ranks, chunk)};
}

Layout Layout::one_each(Pieces pieces, std::size_t chunk) {
  std::vector<std::vector<Part>> parts(pieces.size());
  for (std::size_t i = 0; i < pieces.size(); ++i) parts[i] = {{i, 0, pieces[i].values.size()}};
  return {std::move(parts), pieces,
          chunk_for(pieces, std::max<int>(1, static_cast<int>(pieces.size())), chunk)};
}

Layout Layout::whole(Pieces pieces, std::size_t chunk) {
  std::vector<std::vector<Part>> parts(1);
  for (std::size_t i = 0; i < pieces.size(); ++i)
    parts[0].push_back({i, 0, pieces[i].values.size()});
  return {std::move(parts), pieces, chunk_for(pieces, 1, chunk)};
}

std::size_t Layout::rows() const {
  std::size_t most = 0;
  for (const auto& shard : chunks_) most = std::max(most, shard.size());
  return most;
}

std::size_t Layout::largest() const {
  std::size_t most = 0;
  for (const auto& shard : chunks_)
    for (const Chunk& chunk : shard) most = std::max(most, chunk.max_bytes);
  return most;
}

Extent Layout::extent(int shard) const {
  Extent sum;
  for (const Chunk& chunk : chunks_[shard]) {
    sum.chunks += 1;
    sum.values += chunk.values;
    sum.bytes += chunk.max_bytes;
  }
  return sum;
}

Extent Layout::extent() const {
  Extent sum;
  for (int shard = 0; shard < size(); ++shard) {
    const Extent each = extent(shard);
    sum.chunks += each.chunks;
    sum.values += each.values;
    sum.bytes += each.bytes;
  }
  return sum;
}

std::size_t allowance(Pieces pieces, const Layout& layout, const Travel& travel) {
  std::size_t chunk = layout.largest();
  for (const Piece& piece : pieces)
    chunk = std::max(chunk, packed_bytes(*piece.codec, travel.chunk));
  return layout.extent().bytes + 2 * chunk;
}

}  // namespace narrowcast
