// All-to-all of encoded shards: rank r owns shard r of everything.
//
//   contribute   every rank encodes every other rank's shard and sends it there
//   reduce       the owner decodes all contributions, its own too, adds them in rank order, encodes
//                the sum once more and sends it to all
//   collect      every rank, the owner too, decodes the sum
//
// Good for:  nearly everything. Two roundings whatever the number of ranks, every byte crosses the
//            network once each way, and two rounds of messages are all the latency there is.
// Bad for:   very many ranks and small tensors: ranks - 1 messages each way.
//
// The three steps run chunk by chunk: while chunk k is reduced, chunk k + 1 is on its way, and the
// sums of chunk k - 1 come back.
#include "collective/pipeline/adding.hpp"
#include "collective/pipeline/boxes.hpp"
#include "collective/pipeline/tiles.hpp"

namespace narrowcast {
namespace {

// Lanes of the conversation.
constexpr int kContributions = 0;
constexpr int kSums = 1;

class Direct {
 public:
  Direct(Pieces pieces, const Reduction& how, Conversation& group)
      : how_(how),
        group_(group),
        layout_(Layout::shards(pieces, group.size(), how.travel.chunk)),
        packing_(pieces, how.travel, group),
        adding_(packing_, how.sum),
        shares_(buffers(pieces)),
        contributions_out_(group, kContributions, shares_[0]),
        contributions_in_(group, kContributions, shares_[1]),
        sums_out_(group, kSums, shares_[2]),
        sums_in_(group, kSums, shares_[3]) {}

  void run() {
    const std::size_t rows = layout_.rows();
    const std::size_t peers = group_.size() - 1;
    // How far contributing runs ahead of reducing, and collecting behind it. Neither may wait for a
    // buffer that only the other could free, so both follow from the buffers there are.
    const std::size_t ahead =
        peers == 0 ? 0 : std::max(shares_[0].count / peers, std::size_t{1}) - 1;
    const std::size_t behind = shares_[2].count - 1;
    expect_all();
    for (std::size_t row = 0; row < std::min(ahead, rows); ++row) contribute(row);
    for (std::size_t row = 0; row < rows + behind; ++row) {
      if (row + ahead < rows) contribute(row + ahead);
      if (row < rows) reduce(row);
      if (row >= behind) collect(row - behind);
    }
    contributions_out_.drain();
    sums_out_.drain();
  }

 private:
  std::vector<Buffers> buffers(Pieces pieces) {
    const std::size_t peers = std::max(1, group_.size() - 1);
    // Inboxes of a whole row at least: contributions are sent in another order than they are added.
    const Demand demands[] = {{1, 5 * peers}, {peers, 5 * peers}, {1, 5}, {1, 5 * peers}};
    return share(group_, layout_, demands, allowance(pieces, layout_, how_.travel));
  }

  void expect_all() {
    for (std::size_t row = 0; row < layout_.rows(); ++row)
      for (int peer = 0; peer < group_.size(); ++peer) {
        if (peer == group_.rank()) continue;
        const Chunk mine = layout_.at(group_.rank(), row);
        const Chunk theirs = layout_.at(peer, row);
        if (mine.values != 0) contributions_in_.expect(peer, mine.max_bytes);
        if (theirs.values == 0) continue;
        // What comes in place of a chunk comes after the chunk itself has reached its owner.
        const MutableBytes place = packing_.as_bytes(theirs);
        if (place.empty())
          sums_in_.expect(peer, theirs.max_bytes);
        else
          sums_in_.expect_into(peer, place);
      }
  }

  std::size_t encode_own(const Chunk& chunk, MutableBytes out) {
    const Thrower me{.rank = static_cast<std::uint32_t>(group_.rank())};
    return packing_.pack(chunk, out, me, Leftover::sender);
  }

  void contribute(std::size_t row) {
    for (int turn = 1; turn < group_.size(); ++turn) {
      const int peer = (group_.rank() + turn) % group_.size();
      const Chunk chunk = layout_.at(peer, row);
      if (chunk.values == 0) continue;
      const MutableBytes plain = packing_.as_bytes(chunk);
      if (!plain.empty()) {
        contributions_out_.lend(plain);
        contributions_out_.send(peer, plain.size());
      } else {
        const std::size_t bytes = encode_own(chunk, contributions_out_.next());
        contributions_out_.send(peer, bytes);
      }
    }
  }

  void reduce(std::size_t row) {
    const Chunk chunk = layout_.at(group_.rank(), row);
    if (chunk.values == 0) return;
    const Tiles tiles(packing_.pieces(), chunk);
    take_contributions(tiles);
    // Sums that travel as they are leave from where they are, unless they are to be divided there.
    const MutableBytes plain =
        how_.result == Result::sum ? packing_.as_bytes(chunk) : MutableBytes{};
    std::size_t bytes = plain.size();
    if (plain.empty()) {
      const MutableBytes buffer = sums_out_.next();
      for (std::size_t i = 0; i < tiles.size(); ++i) bytes += reduce_tile(tiles, i, buffer);
    } else {
      for (std::size_t i = 0; i < tiles.size(); ++i) add_tile(tiles, i, {});
      sums_out_.lend(plain);
    }
    contributions_in_.release();
    for (int turn = 1; turn < group_.size(); ++turn)
      sums_out_.send((group_.rank() + turn) % group_.size(), bytes);
  }

  void take_contributions(const Tiles& tiles) {
    contributions_.assign(group_.size(), {});
    for (int peer = 0; peer < group_.size(); ++peer) {
      if (peer == group_.rank()) continue;
      contributions_[peer] = contributions_in_.next();
      tiles.check(contributions_[peer]);
    }
  }

  // Adds up all contributions; `out` is scratch for this rank's own.
  void add_tile(const Tiles& tiles, std::size_t index, MutableBytes out) {
    const Chunk& tile = tiles.at(index);
    const bool exact = how_.self == Self::exact || packing_.is_identity(tile);
    std::size_t own_bytes = 0;
    if (exact)
      adding_.keep(tile);
    else
      own_bytes = encode_own(tile, out);
    adding_.begin();
    for (int rank = 0; rank < group_.size(); ++rank) {
      if (rank != group_.rank())
        adding_.add(tile, {rank, tiles.in(contributions_[rank].bytes, index)});
      else if (exact)
        adding_.add_kept(tile);
      else
        adding_.add(tile, {rank, out.first(own_bytes)});
    }
  }

  std::size_t reduce_tile(const Tiles& tiles, std::size_t index, MutableBytes buffer) {
    const Chunk& tile = tiles.at(index);
    const MutableBytes out = tiles.in(buffer, index);
    add_tile(tiles, index, out);
    const std::size_t bytes = packing_.pack(tile, out, {.stage = Stage::again}, Leftover::owner);
    packing_.unpack(tile, {group_.rank(), out.first(bytes)}, how_.result);
    return bytes;
  }

  void collect(std::size_t row) {
    for (int peer = 0; peer < group_.size(); ++peer) {
      const Chunk chunk = layout_.at(peer, row);
      if (peer == group_.rank() || chunk.values == 0) continue;
      packing_.unpack(chunk, sums_in_.next(), how_.result);  // which may be in place already
      sums_in_.release();
    }
  }

  const Reduction& how_;
  Conversation& group_;
  Layout layout_;
  Packing packing_;
  Adding adding_;
  std::vector<Buffers> shares_;
  Outbox contributions_out_;
  Inbox contributions_in_;
  Outbox sums_out_;
  Inbox sums_in_;
  std::vector<Message> contributions_;  // of one chunk, by rank
};

void run(Pieces pieces, const Reduction& how, Conversation& group) {
  Direct(pieces, how, group).run();
}

Traffic traffic(Pieces pieces, const Reduction& how, int rank, int ranks) {
  const Layout layout = Layout::shards(pieces, ranks, how.travel.chunk);
  const Extent all = layout.extent();
  const Extent mine = layout.extent(rank);
  const std::size_t peers = ranks - 1;
  const std::size_t own = how.self == Self::exact ? 0 : mine.values;
  const Phase contribute{.rounds = 1,
                         .messages = all.chunks - mine.chunks,
                         .bytes = all.bytes - mine.bytes,
                         .encoded = all.values - mine.values + own,
                         .decoded = peers * mine.values + own,
                         .added = peers * mine.values};
  const Phase collect{.rounds = 1,
                      .messages = peers * mine.chunks,
                      .bytes = peers * mine.bytes,
                      .encoded = mine.values,
                      .decoded = all.values};
  return {{contribute, collect}};
}

}  // namespace

AllReduceRow direct_all_reduce() {
  return {.name = "direct",
          .summary = "all-to-all of shards, sum in rank order, encode again, all-gather",
          .owner_residual = true,
          .kahan = true,
          .self_exact = true,
          .run = run,
          .traffic = traffic};
}

}  // namespace narrowcast
