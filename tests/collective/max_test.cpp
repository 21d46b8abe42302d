#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/random.hpp"
#include "collective/collective.hpp"
#include "tests/support/check.hpp"
#include "tests/support/ranks.hpp"
#include "transport/counting.hpp"
#include "transport/inproc.hpp"

namespace narrowcast::test {
namespace {

std::vector<std::uint8_t> bytes_of(int rank, std::size_t count) {
  std::vector<std::uint8_t> bytes(count);
  const Stream stream = stream_of({.rank = static_cast<std::uint32_t>(rank)});
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::uint8_t>(random16(stream, i));
  return bytes;
}

std::vector<std::uint8_t> largest_of(int ranks, std::size_t count) {
  std::vector<std::uint8_t> largest(count);
  for (int rank = 0; rank < ranks; ++rank) {
    const std::vector<std::uint8_t> bytes = bytes_of(rank, count);
    for (std::size_t i = 0; i < count; ++i) largest[i] = std::max(largest[i], bytes[i]);
  }
  return largest;
}

TEST(AllMax, FindsTheLargestOfAnyNumberOfRanksWithTheTrafficItDeclares) {
  for (const int ranks : {1, 2, 3, 4, 5, 7, 8, 9, 13}) {
    for (const std::size_t count : {0, 1, 100}) {
      Hub hub(ranks, kTestTimeout);
      const Connect connect = [&](int rank) {
        return std::make_unique<Counting>(hub.connect(rank));
      };
      const std::vector<std::uint8_t> expected = largest_of(ranks, count);
      on_ranks(connect, ranks, [&](Transport& net) {
        Conversation group(net, 3);
        std::vector<std::uint8_t> bytes = bytes_of(net.rank(), count);
        all_max(bytes, group);
        EXPECT_EQ(bytes, expected);
        const Traffic traffic = all_max_traffic(count, ranks);
        const Sent sent = dynamic_cast<Counting&>(net).sent();
        EXPECT_EQ(sent.messages, traffic.messages());
        EXPECT_EQ(sent.bytes, traffic.bytes());
      });
    }
  }
}

TEST(AllMax, NeverMixesUpOneCallWithTheNext) {
  on_ranks(5, [](Transport& net) {
    Conversation group(net, 0);
    for (int call = 0; call < 50; ++call) {
      std::vector<std::uint8_t> bytes(5);
      bytes[net.rank()] = static_cast<std::uint8_t>(call);
      all_max(bytes, group);
      EXPECT_EQ(bytes, std::vector<std::uint8_t>(5, static_cast<std::uint8_t>(call)));
    }
  });
}

TEST(AllMax, NamesTheRankThatSentAnotherNumberOfBytes) {
  on_ranks(2, [](Transport& net) {
    Conversation group(net, 0);
    std::vector<std::uint8_t> bytes(net.rank() == 0 ? 4 : 3);
    try {
      all_max(bytes, group);
      ADD_FAILURE() << "rank " << net.rank() << " noticed nothing";
    } catch (const Error& error) {
      // Whoever finds it out first leaves, and the other may see no more than that.
      EXPECT_TRUE(error.fault() == Fault::wire || error.fault() == Fault::peer);
      EXPECT_NE(std::string(error.what()).find("rank " + std::to_string(1 - net.rank())),
                std::string::npos)
          << error.what();
    }
  });
}

// What a rank holds back of sums is what it owns: the rest of its residual stays zero.
TEST(Owned, IsWhereTheOwnersResidualIs) {
  for (const char* spec : {"onebit:column=64", "dynamic8:block=256", "float:e=4,m=3"})
    for (const int ranks : {1, 2, 3, 5}) {
      SCOPED_TRACE(spec);
      constexpr std::size_t kValues = 3001;
      std::vector<Shard> shards(ranks);
      on_ranks(ranks, [&](Transport& net) {
        const auto codec = make_codec(spec);
        std::vector<float> values(kValues);
        for (std::size_t i = 0; i < kValues; ++i)
          values[i] = 0.37F * static_cast<float>(i % 83 + 1) + static_cast<float>(net.rank());
        std::vector<float> residual(kValues);
        const Piece piece{
            .tensor = 77, .values = values, .codec = codec.get(), .owner_residual = residual};
        const Shard own = shards[net.rank()] = owned(piece, net.rank(), ranks);
        Conversation group(net, 0);
        all_reduce(all_reduce_row("direct"), {&piece, 1}, {}, group);
        for (std::size_t i = 0; i < kValues; ++i)
          if (i < own.begin || i >= own.begin + own.count) {
            EXPECT_EQ(residual[i], 0) << i;
          }
        EXPECT_TRUE(own.count == 0 || ranks == 1 ||
                    std::any_of(residual.begin(), residual.end(), [](float r) { return r != 0; }));
      });
      std::size_t values = 0;
      for (const Shard& shard : shards) values += shard.count;
      EXPECT_EQ(values, kValues);
    }
}

}  // namespace
}  // namespace narrowcast::test
