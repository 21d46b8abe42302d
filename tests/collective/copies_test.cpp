#include <gtest/gtest.h>

#include "base/error.hpp"
#include "tests/collective/trial.hpp"
#include "tests/support/catalogue.hpp"
#include "tests/support/check.hpp"
#include "tests/support/ranks.hpp"
#include "transport/inproc.hpp"

// All-gather, reduce-scatter, broadcast and send-receive, with every codec.
namespace narrowcast::test {
namespace {

constexpr Travel kTravel{.seed = 3, .step = 1, .chunk = 1000};

// One part for each rank, of different sizes; one is empty.
std::vector<Tensor> parts_for(const std::string& codec, int ranks) {
  std::vector<Tensor> parts;
  for (int rank = 0; rank < ranks; ++rank)
    parts.push_back({codec, rank == 1 ? 0 : 3000 + 77 * static_cast<std::size_t>(rank),
                     static_cast<std::uint64_t>(rank), 0});
  return parts;
}

std::vector<float> seen(const Tensor& tensor, int rank) {
  const auto codec = make_codec(tensor.codec);
  return round_trip(*codec, share_of(tensor, rank, 0),
                    {.stream = stream_of({.seed = kTravel.seed,
                                          .step = kTravel.step,
                                          .tensor = tensor.id,
                                          .rank = static_cast<std::uint32_t>(rank)})});
}

// Calls body(pieces, conversation) on every rank, whose values are its shares of all tensors, and
// returns what became of them. What was sent must be what `traffic` says.
template <class Body, class Declared>
std::vector<Values> on_all(const std::vector<Tensor>& tensors, int ranks, const Body& body,
                           const Declared& traffic) {
  std::vector<Values> results(ranks);
  Hub hub(ranks, kTestTimeout);
  const Connect connect = [&](int rank) { return std::make_unique<Counting>(hub.connect(rank)); };
  on_ranks(connect, ranks, [&](Transport& net) {
    const auto codecs = codecs_of(tensors);
    Values& values = results[net.rank()];
    for (const Tensor& tensor : tensors) values.push_back(share_of(tensor, net.rank(), 0));
    const std::vector<Piece> pieces = pieces_of(tensors, codecs, values);
    Conversation group(net, 0);
    body(Pieces(pieces), group);
    const Sent sent = dynamic_cast<Counting&>(net).sent();
    const Traffic expected = traffic(Pieces(pieces), net.rank());
    EXPECT_EQ(sent.messages, expected.messages());
    EXPECT_LE(sent.bytes, expected.bytes());
    if (codecs[0]->promise().fixed_size) {
      EXPECT_EQ(sent.bytes, expected.bytes());
    }
  });
  return results;
}

TEST(AllGather, BringsEveryPartToEveryRankWithTheSameBits) {
  for_every_codec([](const Codec& codec) {
    for (const int ranks : {1, 2, 5}) {
      const std::vector<Tensor> parts = parts_for(codec.spec(), ranks);
      const auto results = on_all(
          parts, ranks,
          [](Pieces pieces, Conversation& group) { all_gather(pieces, kTravel, group); },
          [&](Pieces pieces, int rank) {
            return all_gather_traffic(pieces, kTravel, rank, ranks);
          });
      for (const Values& each : results)
        for (int part = 0; part < ranks; ++part)
          EXPECT_TRUE(same_values(each[part], seen(parts[part], part)));
    }
  });
}

TEST(ReduceScatter, LeavesEveryRankTheSumOfItsPart) {
  for_every_codec([](const Codec& codec) {
    for (const int ranks : {1, 2, 5}) {
      const std::vector<Tensor> parts = parts_for(codec.spec(), ranks);
      const auto results = on_all(
          parts, ranks,
          [](Pieces pieces, Conversation& group) { reduce_scatter(pieces, kTravel, group); },
          [&](Pieces pieces, int rank) {
            return reduce_scatter_traffic(pieces, kTravel, rank, ranks);
          });
      for (int rank = 0; rank < ranks; ++rank) {
        std::vector<float> sum = seen(parts[rank], 0);
        for (int other = 1; other < ranks; ++other) {
          const std::vector<float> next = seen(parts[rank], other);
          for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += next[i];
        }
        EXPECT_TRUE(same_values(results[rank][rank], sum));
      }
    }
  });
}

TEST(Broadcast, GivesEveryRankWhatTheRootHas) {
  for_every_codec([](const Codec& codec) {
    for (const int ranks : {1, 2, 5}) {
      const int root = ranks / 2;
      const std::vector<Tensor> tensors = {{codec.spec(), 5001, 2}, {"fp32", 3, 4}};
      const auto results = on_all(
          tensors, ranks,
          [&](Pieces pieces, Conversation& group) { broadcast(pieces, root, kTravel, group); },
          [&](Pieces pieces, int rank) {
            return broadcast_traffic(pieces, kTravel, (rank - root + ranks) % ranks, ranks);
          });
      for (const Values& each : results)
        for (std::size_t i = 0; i < tensors.size(); ++i)
          EXPECT_TRUE(same_values(each[i], seen(tensors[i], root)));
    }
  });
}

TEST(SendReceive, CarriesBothWaysAtOnceAndLeavesTheSendersValues) {
  for_every_codec([](const Codec& codec) {
    const std::vector<Tensor> tensors = {{codec.spec(), 4001, 0}, {codec.spec(), 2500, 1}};
    const auto results = on_all(
        tensors, 2,
        [](Pieces pieces, Conversation& group) {
          const int rank = group.rank();
          send_receive({.out = pieces.subspan(rank, 1),
                        .to = 1 - rank,
                        .in = pieces.subspan(1 - rank, 1),
                        .from = 1 - rank},
                       kTravel, group);
        },
        [](Pieces pieces, int rank) { return send_traffic(pieces.subspan(rank, 1), kTravel); });
    for (int rank = 0; rank < 2; ++rank) {
      EXPECT_TRUE(same_values(results[rank][rank], share_of(tensors[rank], rank, 0)));
      EXPECT_TRUE(same_values(results[rank][1 - rank], seen(tensors[1 - rank], 1 - rank)));
    }
  });
}

TEST(Copies, RefuseAPartTooFewAndARootThatIsNoRank) {
  Hub hub(1);
  const auto net = hub.connect(0);
  Conversation group(*net, 0);
  EXPECT_EQ(fault_of([&] { all_gather({}, kTravel, group); }), Fault::usage);
  EXPECT_EQ(fault_of([&] { reduce_scatter({}, kTravel, group); }), Fault::usage);
  EXPECT_EQ(fault_of([&] { broadcast({}, 1, kTravel, group); }), Fault::usage);
}

TEST(SendReceive, RefusesAPeerThatIsNoRank) {
  Hub hub(2);
  const auto net = hub.connect(0);
  Conversation group(*net, 0);
  const auto codec = make_codec("fp32");
  std::vector<float> values(3);
  const Piece piece{.values = values, .codec = codec.get()};
  for (const int nobody : {-1, 2, 1 << 20}) {
    EXPECT_EQ(fault_of([&] {
                send_receive({.out = {&piece, 1}, .to = nobody}, kTravel, group);
              }),
              Fault::usage);
    EXPECT_EQ(fault_of([&] {
                send_receive({.in = {&piece, 1}, .from = nobody}, kTravel, group);
              }),
              Fault::usage);
  }
}

}  // namespace
}  // namespace narrowcast::test
