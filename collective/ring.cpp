// Ring: every rank sends to the next one only.
//
//   reduce   shard s starts at rank s and travels once around; each rank decodes it, adds its own
//            share and encodes it again
//   gather   the finished bytes travel once around untouched, and everybody decodes them
//
// Good for:  links that carry one stream at a time; fp32, whose roundings do not pile up.
// Bad for:   low precision: one more rounding at each hop, so use it with wide formats.
//
// Chunks move as a wave: in step t a rank handles hop h of chunk t - h, for all h. What comes in one
// step leaves in the next, so buffers for two steps are enough whatever the size.
#include "collective/pipeline/boxes.hpp"

namespace narrowcast {
namespace {

// Lanes of the conversation.
constexpr int kPartialSums = 0;
constexpr int kSums = 1;

class Ring {
 public:
  Ring(Pieces pieces, const Reduction& how, Conversation& group)
      : how_(how),
        group_(group),
        hops_(group.size() - 1),
        layout_(Layout::shards(pieces, group.size(), how.travel.chunk)),
        packing_(pieces, how.travel, group),
        shares_(buffers(pieces)),
        partial_out_(group, kPartialSums, shares_[0]),
        partial_in_(group, kPartialSums, shares_[1]),
        sums_out_(group, kSums, shares_[2]),
        sums_in_(group, kSums, shares_[3], hops_) {}

  void run() {
    const std::size_t rows = layout_.rows();
    if (hops_ == 0) return alone();
    expect_all();
    start(0);
    for (std::size_t step = 0; step < rows + 2 * hops_; ++step) {
      start(step + 1);
      for (std::size_t hop = 0; hop < hops_; ++hop)
        if (step >= hop) reduce(hop, step - hop);
      for (std::size_t hop = 0; hop < hops_; ++hop)
        if (step >= hops_ + hop) gather(hop, step - hops_ - hop);
    }
    partial_out_.drain();
    sums_out_.drain();
    sums_in_.drain();
  }

 private:
  int next() const { return behind(group_.size() - 1); }
  int previous() const { return behind(1); }
  int behind(std::size_t hops) const {
    return static_cast<int>((group_.rank() + group_.size() - hops % group_.size()) % group_.size());
  }
  // Where the partial sum is that comes in at a hop, and the finished one.
  Chunk partial(std::size_t hop, std::size_t row) const { return layout_.at(behind(hop + 1), row); }
  Chunk finished(std::size_t hop, std::size_t row) const { return layout_.at(behind(hop), row); }

  std::vector<Buffers> buffers(Pieces pieces) {
    const std::size_t hops = std::max<std::size_t>(1, hops_);
    const Demand demands[] = {{hops, 2 * hops}, {hops, 2 * hops}, {2, 3}, {2 * hops, 3 * hops}};
    return share(group_, layout_, demands, allowance(pieces, layout_, how_.travel));
  }

  // In the order in which the previous rank sends.
  void expect_all() {
    const std::size_t steps = layout_.rows() + hops_;
    for (std::size_t step = 0; step < steps; ++step)
      for (std::size_t hop = 0; hop < std::min(hops_, step + 1); ++hop) {
        const Chunk chunk = partial(hop, step - hop);
        if (chunk.values != 0) partial_in_.expect(previous(), chunk.max_bytes);
        const Chunk sum = finished(hop, step - hop);
        if (sum.values != 0) sums_in_.expect(previous(), sum.max_bytes);
      }
  }

  // A rank alone: its share is encoded and decoded like any sum.
  void alone() {
    for (const Chunk& chunk : layout_.shard(0)) {
      const MutableBytes buffer = sums_out_.next();
      const std::size_t bytes = encode(chunk, 0, buffer);
      packing_.unpack(chunk, {0, buffer.first(bytes)}, how_.result);
    }
  }

  std::size_t encode(const Chunk& chunk, std::size_t hop, MutableBytes out) const {
    const Thrower me{.rank = static_cast<std::uint32_t>(group_.rank()),
                     .stage = hop == 0 ? Stage::first : Stage::hop,
                     .hop = static_cast<std::uint32_t>(hop)};
    return packing_.pack(chunk, out, me, Leftover::sender);
  }

  // Sends off this rank's own shard.
  void start(std::size_t row) {
    const Chunk chunk = layout_.at(group_.rank(), row);
    if (chunk.values != 0) partial_out_.send(next(), encode(chunk, 0, partial_out_.next()));
  }

  void reduce(std::size_t hop, std::size_t row) {
    const Chunk chunk = partial(hop, row);
    if (chunk.values == 0) return;
    if (how_.sum == Sum::format) round_own(chunk);
    packing_.add(chunk, partial_in_.next());
    partial_in_.release();
    if (hop + 1 < hops_)
      partial_out_.send(next(), encode(chunk, hop + 1, partial_out_.next()));
    else
      finish(chunk);
  }

  // Numbers of the format are added, as everywhere: so this rank's own must become such. Not where a
  // residual takes up what the rounding of the sum loses, because it would not see this loss.
  void round_own(const Chunk& chunk) {
    const Thrower me{.rank = static_cast<std::uint32_t>(group_.rank())};
    for (const Part& part : chunk.parts)
      if (packing_.pieces()[part.piece].sender_residual.empty())
        packing_.round(part, packing_.values(part), me);
  }

  void finish(const Chunk& chunk) {
    const MutableBytes buffer = sums_out_.next();
    const std::size_t bytes = encode(chunk, hops_, buffer);
    sums_out_.send(next(), bytes);
    packing_.unpack(chunk, {group_.rank(), buffer.first(bytes)}, how_.result);
  }

  void gather(std::size_t hop, std::size_t row) {
    const Chunk chunk = finished(hop, row);
    if (chunk.values == 0) return;
    const Message message = sums_in_.next();
    if (hop + 1 < hops_) sums_in_.pass_on(next(), kSums);
    packing_.unpack(chunk, message, how_.result);
    sums_in_.release();
  }

  const Reduction& how_;
  Conversation& group_;
  std::size_t hops_;
  Layout layout_;
  Packing packing_;
  std::vector<Buffers> shares_;
  Outbox partial_out_;
  Inbox partial_in_;
  Outbox sums_out_;
  Inbox sums_in_;
};

void run(Pieces pieces, const Reduction& how, Conversation& group) {
  Ring(pieces, how, group).run();
}

Traffic traffic(Pieces pieces, const Reduction& how, int rank, int ranks) {
  const Layout layout = Layout::shards(pieces, ranks, how.travel.chunk);
  const std::size_t hops = ranks - 1;
  Phase reduce{.rounds = hops};
  Phase gather{.rounds = hops};
  for (std::size_t hop = 0; hop < hops; ++hop) {
    const Extent out = layout.extent(static_cast<int>((rank + ranks - hop) % ranks));
    const Extent in = layout.extent(static_cast<int>((rank + ranks - hop - 1) % ranks));
    reduce.messages += out.chunks;
    reduce.bytes += out.bytes;
    reduce.encoded += out.values;
    reduce.decoded += in.values;
    reduce.added += in.values;
    const Extent passed = layout.extent(static_cast<int>((rank + ranks + 1 - hop) % ranks));
    gather.messages += passed.chunks;
    gather.bytes += passed.bytes;
  }
  gather.encoded = layout.extent((rank + 1) % ranks).values;
  gather.decoded = layout.extent().values;
  return {{reduce, gather}};
}

}  // namespace

AllReduceRow ring_all_reduce() {
  return {.name = "ring",
          .summary = "shards travel around, one rounding at each hop",
          .run = run,
          .traffic = traffic};
}

}  // namespace narrowcast
