// Every rank sends its part, encoded once, to all others, and decodes it itself.
#include "collective/pipeline/boxes.hpp"
#include "collective/pipeline/checks.hpp"

namespace narrowcast {
namespace {

class AllGather {
 public:
  AllGather(Pieces parts, const Travel& travel, Conversation& group)
      : group_(group),
        layout_(Layout::one_each(parts, travel.chunk)),
        packing_(parts, travel, group),
        shares_(buffers(parts, travel)),
        out_(group, 0, shares_[0]),
        in_(group, 0, shares_[1]) {}

  void run() {
    for (std::size_t row = 0; row < layout_.rows(); ++row)
      for_peers(row, [&](int peer, const Chunk& chunk) { in_.expect(peer, chunk.max_bytes); });
    // Own chunks leave ahead of the others' coming in, as far as there are buffers.
    const std::size_t ahead = shares_[0].count - 1;
    for (std::size_t row = 0; row < layout_.rows() + ahead; ++row) {
      send(row);
      if (row >= ahead) collect(row - ahead);
    }
    out_.drain();
  }

 private:
  std::vector<Buffers> buffers(Pieces parts, const Travel& travel) {
    const std::size_t peers = std::max(1, group_.size() - 1);
    const Demand demands[] = {{1, 3}, {1, 3 * peers}};
    return share(group_, layout_, demands, allowance(parts, layout_, travel));
  }

  template <class Each>
  void for_peers(std::size_t row, const Each& each) {
    for (int peer = 0; peer < group_.size(); ++peer) {
      const Chunk chunk = layout_.at(peer, row);
      if (peer != group_.rank() && chunk.values != 0) each(peer, chunk);
    }
  }

  void send(std::size_t row) {
    const Chunk chunk = layout_.at(group_.rank(), row);
    if (chunk.values == 0) return;
    const MutableBytes buffer = out_.next();
    const Thrower me{.rank = static_cast<std::uint32_t>(group_.rank())};
    const std::size_t bytes = packing_.pack(chunk, buffer, me, Leftover::sender);
    for (int turn = 1; turn < group_.size(); ++turn)
      out_.send((group_.rank() + turn) % group_.size(), bytes);
    packing_.unpack(chunk, {group_.rank(), buffer.first(bytes)});
  }

  void collect(std::size_t row) {
    for_peers(row, [&](int, const Chunk& chunk) {
      packing_.unpack(chunk, in_.next());
      in_.release();
    });
  }

  Conversation& group_;
  Layout layout_;
  Packing packing_;
  std::vector<Buffers> shares_;
  Outbox out_;
  Inbox in_;
};

}  // namespace

void all_gather(Pieces parts, const Travel& travel, Conversation& group) {
  check_parts(parts, group.size());
  AllGather(parts, travel, group).run();
}

Traffic all_gather_traffic(Pieces parts, const Travel& travel, int rank, int ranks) {
  check_parts(parts, ranks);
  const Layout layout = Layout::one_each(parts, travel.chunk);
  const Extent mine = layout.extent(rank);
  const std::size_t peers = ranks - 1;
  return {{{.rounds = 1,
            .messages = peers * mine.chunks,
            .bytes = peers * mine.bytes,
            .encoded = mine.values,
            .decoded = layout.extent().values}}};
}

}  // namespace narrowcast
