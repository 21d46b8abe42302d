// Every rank sends part r, encoded, to rank r, which adds up all contributions in rank order, its
// own as the others would see it. The sum itself does not travel, so it stays in float32.
#include "collective/pipeline/adding.hpp"
#include "collective/pipeline/boxes.hpp"
#include "collective/pipeline/checks.hpp"

namespace narrowcast {
namespace {

class ReduceScatter {
 public:
  ReduceScatter(Pieces parts, const Travel& travel, Conversation& group)
      : group_(group),
        layout_(Layout::one_each(parts, travel.chunk)),
        packing_(parts, travel, group),
        adding_(packing_, Sum::fp32),
        shares_(buffers(parts, travel)),
        out_(group, 0, shares_[0]),
        in_(group, 0, shares_[1]),
        own_(shares_[2].at(0)) {}

  void run() {
    for (const Chunk& chunk : layout_.shard(group_.rank()))
      for (int peer = 0; peer < group_.size(); ++peer)
        if (peer != group_.rank()) in_.expect(peer, chunk.max_bytes);
    const std::size_t peers = std::max(1, group_.size() - 1);
    const std::size_t ahead = std::max(shares_[0].count / peers, std::size_t{1}) - 1;
    for (std::size_t row = 0; row < layout_.rows() + ahead; ++row) {
      contribute(row);
      if (row >= ahead) reduce(row - ahead);
    }
    out_.drain();
  }

 private:
  std::vector<Buffers> buffers(Pieces parts, const Travel& travel) {
    const std::size_t peers = std::max(1, group_.size() - 1);
    const Demand demands[] = {{1, 3 * peers}, {peers, 3 * peers}, {1, 1}};
    return share(group_, layout_, demands, allowance(parts, layout_, travel));
  }

  std::size_t encode(const Chunk& chunk, MutableBytes out) {
    const Thrower me{.rank = static_cast<std::uint32_t>(group_.rank())};
    return packing_.pack(chunk, out, me, Leftover::sender);
  }

  void contribute(std::size_t row) {
    for (int turn = 1; turn < group_.size(); ++turn) {
      const int peer = (group_.rank() + turn) % group_.size();
      const Chunk chunk = layout_.at(peer, row);
      if (chunk.values != 0) out_.send(peer, encode(chunk, out_.next()));
    }
  }

  void reduce(std::size_t row) {
    const Chunk chunk = layout_.at(group_.rank(), row);
    if (chunk.values == 0) return;
    const Bytes own = own_.first(encode(chunk, own_));
    adding_.begin();
    for (int rank = 0; rank < group_.size(); ++rank)
      adding_.add(chunk, rank == group_.rank() ? Message{rank, own} : in_.next());
    in_.release();
  }

  Conversation& group_;
  Layout layout_;
  Packing packing_;
  Adding adding_;
  std::vector<Buffers> shares_;
  Outbox out_;
  Inbox in_;
  MutableBytes own_;
};

}  // namespace

void reduce_scatter(Pieces parts, const Travel& travel, Conversation& group) {
  check_parts(parts, group.size());
  ReduceScatter(parts, travel, group).run();
}

Traffic reduce_scatter_traffic(Pieces parts, const Travel& travel, int rank, int ranks) {
  check_parts(parts, ranks);
  const Layout layout = Layout::one_each(parts, travel.chunk);
  const Extent all = layout.extent();
  const Extent mine = layout.extent(rank);
  return {{{.rounds = 1,
            .messages = all.chunks - mine.chunks,
            .bytes = all.bytes - mine.bytes,
            .encoded = all.values,
            .decoded = ranks * mine.values,
            .added = (ranks - 1) * mine.values}}};
}

}  // namespace narrowcast
