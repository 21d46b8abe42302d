// Groups of neighbouring ranks, each within a machine; across machines only sums of groups travel.
//
//   contribute   within the group, every rank sends every shard to the member that leads it there
//   lead         the leader adds up its group's contributions in rank order and sends the sum,
//                encoded, to the shard's owner, who leads it in the owner's group
//   own          the owner adds up the groups in order, encodes the sum and sends it to all leaders
//   forward      leaders pass the bytes on to their members, untouched
//   collect      everybody decodes them
//
// Good for:  several ranks on each of several machines: the network carries each shard once for
//            every machine, not for every rank.
// Bad for:   one rank on a machine; there it is `direct`. Three roundings instead of two.
//
// Every member leads some shards, so all of a machine's ranks share the work. The steps run on
// successive chunks at the same time, each one chunk behind the step before.
#include <algorithm>

#include "collective/pipeline/adding.hpp"
#include "collective/pipeline/boxes.hpp"

namespace narrowcast {

AllReduceRow direct_all_reduce();

namespace {

// Lanes of the conversation.
constexpr int kContributions = 0;
constexpr int kGroupSums = 1;
constexpr int kSums = 2;
constexpr int kForwarded = 3;
constexpr int kOwned = 4;

// Who does what.
class Groups {
 public:
  Groups(int rank, int ranks, int group) : rank_(rank), ranks_(ranks), group_(group) {}

  int count() const { return (ranks_ + group_ - 1) / group_; }
  int of(int rank) const { return rank / group_; }
  int first(int group) const { return group * group_; }
  int members(int group) const { return std::min(ranks_, first(group) + group_) - first(group); }
  // Who adds up shard `shard` in a group: the owner in its own.
  int leader(int group, int shard) const {
    return of(shard) == group ? shard : first(group) + shard % members(group);
  }
  int own() const { return of(rank_); }
  int my_leader(int shard) const { return leader(own(), shard); }
  bool i_lead(int shard) const { return my_leader(shard) == rank_; }
  std::size_t led() const {
    std::size_t count = 0;
    for (int shard = 0; shard < ranks_; ++shard) count += i_lead(shard) ? 1 : 0;
    return count;
  }

 private:
  int rank_;
  int ranks_;
  int group_;
};

class Hierarchy {
 public:
  Hierarchy(Pieces pieces, const Reduction& how, Conversation& group)
      : how_(how),
        group_(group),
        rank_(group.rank()),
        groups_(rank_, group.size(), how.group),
        layout_(Layout::shards(pieces, group.size(), how.travel.chunk)),
        packing_(pieces, how.travel, group),
        adding_(packing_, how.sum),
        shares_(buffers(pieces)),
        contributions_out_(group, kContributions, shares_[0]),
        contributions_in_(group, kContributions, shares_[1]),
        group_sums_out_(group, kGroupSums, shares_[2]),
        group_sums_in_(group, kGroupSums, shares_[3]),
        sums_out_(group, kSums, shares_[4]),
        sums_in_(group, kSums, shares_[5], groups_.led()),
        forwarded_in_(group, kForwarded, shares_[6]),
        owned_in_(group, kOwned, shares_[7]) {}

  void run() {
    expect_all();
    contribute(0);
    for (std::size_t step = 0; step < layout_.rows() + 3; ++step) {
      contribute(step + 1);
      lead(step);
      if (step >= 1) own(step - 1);
      if (step >= 2) forward(step - 2);
      if (step >= 3) collect(step - 3);
    }
    contributions_out_.drain();
    group_sums_out_.drain();
    sums_out_.drain();
    sums_in_.drain();
  }

 private:
  std::vector<Buffers> buffers(Pieces pieces) {
    const std::size_t led = groups_.led();
    const std::size_t others = std::max<std::size_t>(1, group_.size() - led);
    const std::size_t members = std::max<std::size_t>(1, led * groups_.members(groups_.own()));
    const std::size_t across = std::max<std::size_t>(1, groups_.count());
    const std::size_t passing = groups_.members(groups_.own()) == 1 ? 1 : 2 * led;
    // Outboxes hold what leaves until the step after the one that takes it.
    const Demand demands[] = {{2 * others, 3 * others}, {1, 2 * members}, {2 * led, 3 * led},
                              {1, 2 * across},          {3, 3},           {passing, 3 * led},
                              {1, 2 * others},          {1, 2 * members}};
    return share(group_, layout_, demands, allowance(pieces, layout_, how_.travel));
  }

  void expect_all() {
    for (std::size_t row = 0; row < layout_.rows(); ++row)
      for (int shard = 0; shard < group_.size(); ++shard) {
        const Chunk chunk = layout_.at(shard, row);
        if (chunk.values != 0) expect(chunk.max_bytes, shard);
      }
  }

  void expect(std::size_t bytes, int shard) {
    if (!groups_.i_lead(shard)) return sums_of(shard).expect(groups_.my_leader(shard), bytes);
    const int first = groups_.first(groups_.own());
    for (int i = 0; i < groups_.members(groups_.own()); ++i)
      if (first + i != rank_) contributions_in_.expect(first + i, bytes);
    if (shard != rank_) return sums_in_.expect(shard, bytes);
    for (int other = 0; other < groups_.count(); ++other)
      if (other != groups_.own()) group_sums_in_.expect(groups_.leader(other, shard), bytes);
  }

  void contribute(std::size_t row) {
    const Thrower me{.rank = static_cast<std::uint32_t>(rank_)};
    for (int shard = 0; shard < group_.size(); ++shard) {
      const Chunk chunk = layout_.at(shard, row);
      if (chunk.values == 0 || groups_.i_lead(shard)) continue;
      const MutableBytes buffer = contributions_out_.next();
      contributions_out_.send(groups_.my_leader(shard),
                              packing_.pack(chunk, buffer, me, Leftover::sender));
    }
  }

  // Every leader adds its own share as the others see it.
  void add_members(const Chunk& chunk, MutableBytes buffer) {
    const Thrower me{.rank = static_cast<std::uint32_t>(rank_)};
    const std::size_t own = packing_.pack(chunk, buffer, me, Leftover::sender);
    adding_.begin(1 + groups_.own());
    const int first = groups_.first(groups_.own());
    for (int i = 0; i < groups_.members(groups_.own()); ++i) {
      adding_.add(
          chunk, first + i == rank_ ? Message{rank_, buffer.first(own)} : contributions_in_.next());
      contributions_in_.release();
    }
  }

  void lead(std::size_t row) {
    for (int shard = 0; shard < group_.size(); ++shard) {
      const Chunk chunk = layout_.at(shard, row);
      if (chunk.values == 0 || !groups_.i_lead(shard)) continue;
      const MutableBytes buffer = group_sums_out_.next();
      add_members(chunk, buffer);
      // The owner keeps its sum where it is, until the others' are here.
      if (shard != rank_) group_sums_out_.send(shard, encode_group_sum(chunk, buffer));
    }
  }

  std::size_t encode_group_sum(const Chunk& chunk, MutableBytes buffer) {
    const Thrower mine{.rank = static_cast<std::uint32_t>(groups_.own()), .stage = Stage::hop};
    return packing_.pack(chunk, buffer, mine, Leftover::owner);
  }

  void own(std::size_t row) {
    const Chunk chunk = layout_.at(rank_, row);
    if (chunk.values == 0) return;
    const MutableBytes buffer = sums_out_.next();
    const std::size_t own = encode_group_sum(chunk, buffer);
    adding_.begin();
    for (int each = 0; each < groups_.count(); ++each) {
      adding_.add(
          chunk, each == groups_.own() ? Message{rank_, buffer.first(own)} : group_sums_in_.next());
      group_sums_in_.release();
    }

    const std::size_t bytes =
        packing_.pack(chunk, buffer, {.stage = Stage::again}, Leftover::owner);
    for (int each = 0; each < groups_.count(); ++each)
      if (each != groups_.own()) sums_out_.send(groups_.leader(each, rank_), bytes);
    for_members([&](int member) { sums_out_.send(member, bytes, kOwned); });
    packing_.unpack(chunk, {rank_, buffer.first(bytes)}, how_.result);
  }

  void forward(std::size_t row) {
    for (int shard = 0; shard < group_.size(); ++shard) {
      const Chunk chunk = layout_.at(shard, row);
      if (chunk.values == 0 || !groups_.i_lead(shard) || shard == rank_) continue;
      const Message message = sums_in_.next();
      for_members([&](int member) { sums_in_.pass_on(member, kForwarded); });
      packing_.unpack(chunk, message, how_.result);
      sums_in_.release();
    }
  }

  void collect(std::size_t row) {
    for (int shard = 0; shard < group_.size(); ++shard) {
      const Chunk chunk = layout_.at(shard, row);
      if (chunk.values == 0 || groups_.i_lead(shard)) continue;
      packing_.unpack(chunk, sums_of(shard).next(), how_.result);
      sums_of(shard).release();
    }
  }

  // Where the sum of a shard that others lead comes in: owners send theirs a step earlier than
  // leaders pass on what they got.
  Inbox& sums_of(int shard) {
    return groups_.of(shard) == groups_.own() ? owned_in_ : forwarded_in_;
  }

  template <class Each>
  void for_members(const Each& each) const {
    const int first = groups_.first(groups_.own());
    for (int i = 0; i < groups_.members(groups_.own()); ++i)
      if (first + i != rank_) each(first + i);
  }

  const Reduction& how_;
  Conversation& group_;
  int rank_;
  Groups groups_;
  Layout layout_;
  Packing packing_;
  Adding adding_;
  std::vector<Buffers> shares_;
  Outbox contributions_out_;
  Inbox contributions_in_;
  Outbox group_sums_out_;
  Inbox group_sums_in_;
  Outbox sums_out_;
  Inbox sums_in_;
  Inbox forwarded_in_;
  Inbox owned_in_;
};

// One group, or one rank in each: nothing is left of the hierarchy.
bool is_flat(const Reduction& how, int ranks) { return how.group <= 1 || how.group >= ranks; }

void run(Pieces pieces, const Reduction& how, Conversation& group) {
  if (is_flat(how, group.size())) return direct_all_reduce().run(pieces, how, group);
  Hierarchy(pieces, how, group).run();
}

Traffic traffic(Pieces pieces, const Reduction& how, int rank, int ranks) {
  if (is_flat(how, ranks)) return direct_all_reduce().traffic(pieces, how, rank, ranks);
  const Layout layout = Layout::shards(pieces, ranks, how.travel.chunk);
  const Groups groups(rank, ranks, how.group);
  const std::size_t members = groups.members(groups.own()) - 1;
  const std::size_t others = groups.count() - 1;
  Phase contribute{.level = Level::machine, .rounds = 1};
  Phase lead{.rounds = 1};
  Phase own{.rounds = 1};
  Phase forward{.level = Level::machine, .rounds = 1};
  for (int shard = 0; shard < ranks; ++shard) {
    const Extent extent = layout.extent(shard);
    contribute.encoded += extent.values;
    forward.decoded += extent.values;
    if (!groups.i_lead(shard)) {
      contribute.messages += extent.chunks;
      contribute.bytes += extent.bytes;
      continue;
    }
    contribute.decoded += (members + 1) * extent.values;
    contribute.added += members * extent.values;
    lead.encoded += extent.values;
    forward.messages += members * extent.chunks;
    forward.bytes += members * extent.bytes;
    if (shard != rank) {
      lead.messages += extent.chunks;
      lead.bytes += extent.bytes;
      continue;
    }
    own = {.rounds = 1,
           .messages = others * extent.chunks,
           .bytes = others * extent.bytes,
           .encoded = extent.values,
           .decoded = (others + 1) * extent.values,
           .added = others * extent.values};
  }
  return {{contribute, lead, own, forward}};
}

}  // namespace

AllReduceRow hierarchy_all_reduce() {
  return {.name = "hierarchy",
          .summary = "sums within a machine first, then across machines",
          .owner_residual = true,
          .kahan = true,
          .run = run,
          .traffic = traffic};
}

}  // namespace narrowcast
