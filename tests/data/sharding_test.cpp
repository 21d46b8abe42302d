#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

#include "data/data.hpp"
#include "tests/support/fault_text.hpp"

namespace narrowcast::test {
namespace {

using testing::HasSubstr;

std::vector<std::size_t> step_of(const std::vector<std::size_t>& shard, std::size_t step,
                                 std::size_t batch) {
  const auto first = shard.begin() + static_cast<std::ptrdiff_t>(step * batch);
  return {first, first + static_cast<std::ptrdiff_t>(batch)};
}

RC_GTEST_PROP(Sharding, GivesEveryImageToOneRankAtMost, ()) {
  const auto images = *rc::gen::inRange<std::size_t>(0, 300);
  Sharding how = {.seed = *rc::gen::arbitrary<std::uint64_t>(),
                  .epoch = *rc::gen::inRange<std::uint64_t>(0, 100),
                  .ranks = *rc::gen::inRange(1, 6),
                  .batch = *rc::gen::inRange<std::size_t>(1, 20)};
  std::set<std::size_t> seen;
  for (how.rank = 0; how.rank < how.ranks; ++how.rank) {
    const std::vector<std::size_t> mine = shard(images, how);
    RC_ASSERT(mine.size() == steps_of(images, how) * how.batch);
    for (const std::size_t image : mine) {
      RC_ASSERT(image < images);
      RC_ASSERT(seen.insert(image).second);
    }
  }
  RC_ASSERT(images - seen.size() < how.batch * static_cast<std::size_t>(how.ranks));
}

// One worker with a batch of 12 takes the same steps as two with 6, or four with 3.
TEST(Sharding, TakesTheSameStepsForAnyNumberOfRanks) {
  constexpr std::size_t kImages = 100;
  const std::vector<std::size_t> alone = shard(kImages, {.seed = 5, .epoch = 3, .batch = 12});
  ASSERT_EQ(96u, alone.size());
  for (const int ranks : {2, 4}) {
    const std::size_t batch = 12 / static_cast<std::size_t>(ranks);
    for (std::size_t step = 0; step < 8; ++step) {
      std::vector<std::size_t> together;
      for (int rank = 0; rank < ranks; ++rank) {
        const auto mine =
            shard(kImages, {.seed = 5, .epoch = 3, .rank = rank, .ranks = ranks, .batch = batch});
        const auto part = step_of(mine, step, batch);
        together.insert(together.end(), part.begin(), part.end());
      }
      EXPECT_EQ(step_of(alone, step, 12), together) << ranks << " ranks, step " << step;
    }
  }
}

TEST(Sharding, FollowsFromSeedAndEpoch) {
  const Sharding how = {.seed = 1, .epoch = 2, .batch = 10};
  Sharding other_seed = how;
  other_seed.seed = 2;
  Sharding other_epoch = how;
  other_epoch.epoch = 3;
  EXPECT_EQ(shard(50, how), shard(50, how));
  EXPECT_NE(shard(50, how), shard(50, other_seed));
  EXPECT_NE(shard(50, how), shard(50, other_epoch));
}

// A checkpoint must find the order that it left. Written once.
TEST(Sharding, KeepsItsOrderForEver) {
  EXPECT_THAT(shard(10, {.seed = 7, .epoch = 1, .batch = 10}),
              testing::ElementsAre(3, 0, 1, 7, 2, 6, 8, 4, 5, 9));
}

// With 40,000 throws of a die of 20 sides, 200 more or less than 2,000 is 4.6 deviations.
TEST(Sharding, PutsEveryImageEverywhereEquallyOften) {
  constexpr std::size_t kImages = 20;
  constexpr std::uint64_t kEpochs = 40000;
  std::vector<int> places(kImages);
  for (std::uint64_t epoch = 0; epoch < kEpochs; ++epoch) {
    const auto order = shard(kImages, {.seed = 3, .epoch = epoch, .batch = kImages});
    ++places[static_cast<std::size_t>(std::find(order.begin(), order.end(), 4u) - order.begin())];
  }
  for (const int times : places) EXPECT_NEAR(2000, times, 200);
}

TEST(Sharding, LeavesOutWhatDoesNotFillAStep) {
  EXPECT_EQ(2u, steps_of(29, {.ranks = 2, .batch = 5}));
  EXPECT_EQ(0u, steps_of(9, {.ranks = 2, .batch = 5}));
  EXPECT_TRUE(shard(9, {.ranks = 2, .batch = 5}).empty());
}

TEST(Sharding, RefusesNonsense) {
  const auto refusal = [](const Sharding& how) {
    return fault_text([&] { (void)shard(10, how); });
  };
  EXPECT_EQ("usage: there is no rank 2 of 2", refusal({.rank = 2, .ranks = 2}));
  EXPECT_THAT(refusal({.rank = -1, .ranks = 2}), HasSubstr("usage: "));
  EXPECT_THAT(refusal({.ranks = 0}), HasSubstr("usage: "));
  EXPECT_THAT(refusal({.batch = 0}), HasSubstr("usage: "));
  EXPECT_THAT(refusal({.ranks = 2, .batch = std::size_t(-1)}), HasSubstr("usage: "));
}

}  // namespace
}  // namespace narrowcast::test
