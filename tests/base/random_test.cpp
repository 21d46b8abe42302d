#include "base/random.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace narrowcast::test {
namespace {

struct KnownAnswer {
  int rounds;
  PhiloxBlock counter;
  std::array<std::uint32_t, 2> key;
  PhiloxBlock answer;
};

// The known-answer vectors of Random123, the library of Philox's authors: zeros, ones, digits of
// pi.
constexpr std::uint32_t kOnes = 0xffffffff;
constexpr PhiloxBlock kPi = {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344};
constexpr std::array<std::uint32_t, 2> kMorePi = {0xa4093822, 0x299f31d0};
constexpr KnownAnswer kKnownAnswers[] = {
    {7, {}, {}, {0x5f6fb709, 0x0d893f64, 0x4f121f81, 0x4f730a48}},
    {7,
     {kOnes, kOnes, kOnes, kOnes},
     {kOnes, kOnes},
     {0x5207ddc2, 0x45165e59, 0x4d8ee751, 0x8c52f662}},
    {7, kPi, kMorePi, {0x4dfccaba, 0x190a87f0, 0xc47362ba, 0xb6b5242a}},
    {10, {}, {}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {10,
     {kOnes, kOnes, kOnes, kOnes},
     {kOnes, kOnes},
     {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
    {10, kPi, kMorePi, {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
};

TEST(Philox, GivesTheKnownAnswersOfItsAuthors) {
  for (const KnownAnswer& known : kKnownAnswers)
    EXPECT_EQ(known.answer, philox(known.counter, known.key, known.rounds))
        << known.rounds << " rounds of counter " << std::hex << known.counter[0];
}

// The layout written out the other way round: from each word of each lane to the two indices it
// serves.
TEST(Random16, LaysOutEightCountersOfFourWordsInEveryGroup) {
  const Stream stream = {.key = 0x0123456789abcdef, .salt = 0xfedcba9876543210};
  for (const std::uint64_t group : {std::uint64_t{0}, std::uint64_t{5}, std::uint64_t{1} << 40})
    for (std::uint32_t i = 0; i < 8; ++i) {
      const std::uint64_t counter = group * 8 + i;
      const std::uint32_t lane = i % 4 * 2 + i / 4;
      const PhiloxBlock words =
          philox({static_cast<std::uint32_t>(counter), static_cast<std::uint32_t>(counter >> 32),
                  0x76543210, 0xfedcba98},
                 {0x89abcdef, 0x01234567}, kPhiloxRounds);
      for (std::uint32_t word = 0; word < 4; ++word) {
        const std::uint64_t index = group * kRandomGroup + word * 16 + lane * 2;
        EXPECT_EQ(words[word] & 0xffff, random16(stream, index));
        EXPECT_EQ(words[word] >> 16, random16(stream, index + 1));
      }
    }
}

// With 2^16 throws the mean of 16 random bits lies within six standard errors of the middle, unless
// something is wrong: a good generator fails once in 10^9 seeds, and the seed is fixed.
TEST(Random16, IsCentred) {
  constexpr std::uint64_t kThrows = 1 << 16;
  const Stream stream = stream_of({.seed = 1});
  double sum = 0;
  for (std::uint64_t i = 0; i < kThrows; ++i) sum += random16(stream, i);
  const double levels = 65536;
  const double standard_error = levels / std::sqrt(12.0 * kThrows);
  EXPECT_NEAR((levels - 1) / 2, sum / kThrows, 6 * standard_error);
}

TEST(Uniform, StaysInsideTheOpenIntervalAndIsCentred) {
  constexpr std::uint64_t kThrows = 1 << 16;
  const Stream stream = stream_of({.seed = 2});
  double sum = 0;
  for (std::uint64_t i = 0; i < kThrows; ++i) {
    const double u = uniform(stream, i);
    ASSERT_GT(u, 0);
    ASSERT_LT(u, 1);
    sum += u;
  }
  EXPECT_NEAR(0.5, sum / kThrows, 6 / std::sqrt(12.0 * kThrows));
}

TEST(Uniform, IsAPureFunctionOfStreamAndIndex) {
  const Stream stream = stream_of({.seed = 3});
  EXPECT_EQ(uniform(stream, 77), uniform(stream, 77));
  EXPECT_NE(uniform(stream, 77), uniform(stream, 78));
  EXPECT_NE(uniform(stream, 77), uniform(stream_of({.seed = 4}), 77));
}

TEST(StreamOf, DiffersInEveryField) {
  const std::vector<Dice> dice = {
      {},
      {.seed = 1},
      {.step = 1},
      {.tensor = 1},
      {.rank = 1},
      {.stage = Stage::hop},
      {.stage = Stage::again},
      {.hop = 1},
      // Beyond 32 bits too.
      {.seed = std::uint64_t{1} << 32},
      {.step = std::uint64_t{1} << 32},
      {.tensor = std::uint64_t{1} << 32},
  };
  std::set<std::pair<std::uint64_t, std::uint64_t>> streams;
  for (const Dice& d : dice) streams.emplace(stream_of(d).key, stream_of(d).salt);
  EXPECT_EQ(dice.size(), streams.size());
}

TEST(StreamOf, GivesEveryStepTensorAndRankDiceOfItsOwn) {
  std::set<std::pair<std::uint64_t, std::uint64_t>> streams;
  for (std::uint64_t step = 0; step < 16; ++step)
    for (std::uint64_t tensor = 0; tensor < 16; ++tensor)
      for (std::uint32_t rank = 0; rank < 16; ++rank) {
        const Stream s = stream_of({.step = step, .tensor = tensor, .rank = rank});
        streams.emplace(s.key, s.salt);
      }
  EXPECT_EQ(16u * 16 * 16, streams.size());
}

TEST(StreamOf, GivesEqualDiceEqualStreams) {
  const Dice dice = {.seed = 9, .step = 8, .tensor = 7, .rank = 6, .stage = Stage::hop, .hop = 5};
  EXPECT_EQ(stream_of(dice), stream_of(dice));
}

}  // namespace
}  // namespace narrowcast::test
