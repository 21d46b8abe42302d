// A chain: the root sends to its neighbour, who passes every chunk on as it came. Each link carries
// everything once, and all links work at the same time.
#include "base/error.hpp"
#include "collective/pipeline/boxes.hpp"
#include "collective/pipeline/checks.hpp"

namespace narrowcast {
namespace {

class Broadcast {
 public:
  Broadcast(Pieces pieces, int root, const Travel& travel, Conversation& group)
      : group_(group),
        place_((group.rank() - root + group.size()) % group.size()),
        layout_(Layout::whole(pieces, travel.chunk)),
        packing_(pieces, travel, group),
        shares_(buffers(pieces, travel)),
        out_(group, 0, shares_[0]),
        in_(group, 0, shares_[0], 1) {}

  void run() {
    if (place_ == 0)
      send_all();
    else
      receive_all();
  }

 private:
  std::vector<Buffers> buffers(Pieces pieces, const Travel& travel) {
    const Demand demands[] = {{3, 4}};
    return share(group_, layout_, demands, allowance(pieces, layout_, travel));
  }

  bool last() const { return place_ + 1 == group_.size(); }
  int next() const { return (group_.rank() + 1) % group_.size(); }

  void send_all() {
    const Thrower me{.rank = static_cast<std::uint32_t>(group_.rank())};
    for (const Chunk& chunk : layout_.shard(0)) {
      const MutableBytes buffer = out_.next();
      const std::size_t bytes = packing_.pack(chunk, buffer, me, Leftover::sender);
      if (!last()) out_.send(next(), bytes);
      packing_.unpack(chunk, {group_.rank(), buffer.first(bytes)});
    }
    out_.drain();
  }

  void receive_all() {
    const int previous = (group_.rank() + group_.size() - 1) % group_.size();
    for (const Chunk& chunk : layout_.shard(0)) in_.expect(previous, chunk.max_bytes);
    for (const Chunk& chunk : layout_.shard(0)) {
      const Message message = in_.next();
      if (!last()) in_.pass_on(next(), 0);
      packing_.unpack(chunk, message);
      in_.release();
    }
    in_.drain();
  }

  Conversation& group_;
  int place_;  // in the chain
  Layout layout_;
  Packing packing_;
  std::vector<Buffers> shares_;
  Outbox out_;
  Inbox in_;
};

void check_root(int root, int ranks) {
  require(root >= 0 && root < ranks, Fault::usage,
          "the root of a broadcast is not among the ranks");
}

}  // namespace

void broadcast(Pieces pieces, int root, const Travel& travel, Conversation& group) {
  check_root(root, group.size());
  check_pieces(pieces);
  Broadcast(pieces, root, travel, group).run();
}

Traffic broadcast_traffic(Pieces pieces, const Travel& travel, int place, int ranks) {
  const Extent all = Layout::whole(pieces, travel.chunk).extent();
  const bool sends = place + 1 < ranks;
  return {{{.rounds = static_cast<std::size_t>(ranks - 1),
            .messages = sends ? all.chunks : 0,
            .bytes = sends ? all.bytes : 0,
            .encoded = place == 0 ? all.values : 0,
            .decoded = all.values}}};
}

}  // namespace narrowcast
