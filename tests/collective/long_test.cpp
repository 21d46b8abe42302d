#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "tests/collective/reference.hpp"
#include "tests/support/catalogue.hpp"
#include "tests/support/check.hpp"
#include "tests/support/ranks.hpp"
#include "transport/inproc.hpp"

// What takes long, or much memory: scripts/test --long.
namespace narrowcast::test {
namespace {

class LongTier : public testing::Test {
 protected:
  void SetUp() override {
    if (std::getenv("NARROWCAST_LONG") == nullptr) GTEST_SKIP() << "only with NARROWCAST_LONG=1";
  }
};

TEST_F(LongTier, ManyRanksEndWithTheSameBits) {
  for (const AllReduceRow& row : all_reduces())
    for (const int ranks : {16, 64})
      for (const std::string& codec : every_spec()) {
        SCOPED_TRACE(std::string(row.name) + " " + codec + " " + std::to_string(ranks));
        const Trial trial{.tensors = {{codec, 1, 3}, {codec, 7001, 4}},
                          .how = {.travel = {.seed = 6, .step = 2, .chunk = 512}, .group = 8},
                          .ranks = ranks};
        const std::vector<Outcome> outcomes = reduce(row, trial);
        const Values expected = reference(row, trial);
        for (const Outcome& outcome : outcomes)
          for (std::size_t i = 0; i < expected.size(); ++i)
            EXPECT_TRUE(same_values(outcome.results[i], expected[i]));
      }
}

// One bit is exact for values of one magnitude: the two means of a column are the two values.
float brought(std::size_t index, int rank) {
  const float magnitude = rank == 0 ? 1.0F : 2.0F;
  return index % 3 == 0 ? -magnitude : magnitude;
}

TEST_F(LongTier, MoreValuesThanAnIntCountsTravelInOneBit) {
  constexpr std::size_t kValues = (std::size_t{1} << 31) + 7;
  const auto codec = make_codec("onebit:column=512");
  Hub hub(2);
  const Connect connect = [&](int rank) { return hub.connect(rank); };
  on_ranks(connect, 2, [&](Transport& net) {
    std::vector<float> values(kValues);
    for (std::size_t i = 0; i < kValues; ++i) values[i] = brought(i, net.rank());
    Conversation group(net, 0);
    const Piece piece{.tensor = 1, .values = values, .codec = codec.get()};
    all_reduce(all_reduce_row("direct"), {&piece, 1}, {}, group);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < kValues; ++i)
      wrong += values[i] != brought(i, 0) + brought(i, 1) ? 1 : 0;
    EXPECT_EQ(wrong, 0U);
  });
}

}  // namespace
}  // namespace narrowcast::test
