// Every rank sends all it has, encoded, to all others, and adds up by itself (Dettmers, 2016).
//
// Good for:  two ranks, and tensors so small that a second round costs more than more bytes; one
//            rounding only.
// Bad for:   many ranks: bytes grow with their number.
#include "collective/pipeline/adding.hpp"
#include "collective/pipeline/boxes.hpp"

namespace narrowcast {
namespace {

class Gather {
 public:
  Gather(Pieces pieces, const Reduction& how, Conversation& group)
      : how_(how),
        group_(group),
        layout_(Layout::whole(pieces, how.travel.chunk)),
        packing_(pieces, how.travel, group),
        adding_(packing_, how.sum),
        shares_(buffers(pieces)),
        out_(group, 0, shares_[0]),
        in_(group, 0, shares_[1]) {}

  void run() {
    for (const Chunk& chunk : layout_.shard(0))
      for (int peer = 0; peer < group_.size(); ++peer)
        if (peer != group_.rank()) in_.expect(peer, chunk.max_bytes);

    const std::span<const Chunk> chunks = layout_.shard(0);
    // The next chunk leaves before this one is added up, if there is a buffer for it.
    const std::size_t ahead = shares_[0].count - 1;
    std::vector<Bytes> own(chunks.size());
    for (std::size_t i = 0; i < chunks.size() + ahead; ++i) {
      if (i < chunks.size()) own[i] = send(chunks[i]);
      if (i >= ahead) add_all(chunks[i - ahead], own[i - ahead]);
    }
    out_.drain();
  }

 private:
  std::vector<Buffers> buffers(Pieces pieces) {
    const std::size_t peers = std::max(1, group_.size() - 1);
    const Demand demands[] = {{1, 3}, {1, 3 * peers}};
    return share(group_, layout_, demands, allowance(pieces, layout_, how_.travel));
  }

  Bytes send(const Chunk& chunk) {
    const Thrower me{.rank = static_cast<std::uint32_t>(group_.rank())};
    const MutableBytes buffer = out_.next();
    const std::size_t bytes = packing_.pack(chunk, buffer, me, Leftover::sender);
    for (int turn = 1; turn < group_.size(); ++turn)
      out_.send((group_.rank() + turn) % group_.size(), bytes);
    return buffer.first(bytes);
  }

  void add_all(const Chunk& chunk, Bytes own) {
    adding_.begin();
    for (int rank = 0; rank < group_.size(); ++rank) {
      adding_.add(chunk, rank == group_.rank() ? Message{rank, own} : in_.next());
      in_.release();
    }
    if (how_.result == Result::average) packing_.divide(chunk);
  }

  const Reduction& how_;
  Conversation& group_;
  Layout layout_;
  Packing packing_;
  Adding adding_;
  std::vector<Buffers> shares_;
  Outbox out_;
  Inbox in_;
};

void run(Pieces pieces, const Reduction& how, Conversation& group) {
  Gather(pieces, how, group).run();
}

Traffic traffic(Pieces pieces, const Reduction& how, int /*rank*/, int ranks) {
  const Extent all = Layout::whole(pieces, how.travel.chunk).extent();
  const std::size_t peers = ranks - 1;
  return {{{.rounds = 1,
            .messages = peers * all.chunks,
            .bytes = peers * all.bytes,
            .encoded = all.values,
            .decoded = ranks * all.values,
            .added = peers * all.values}}};
}

}  // namespace

AllReduceRow gather_all_reduce() {
  return {.name = "gather",
          .summary = "everything to everybody, who add it up themselves: one rounding",
          .kahan = true,
          .run = run,
          .traffic = traffic};
}

}  // namespace narrowcast
