#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "base/team.hpp"
#include "codec/parallel.hpp"
#include "tests/support/catalogue.hpp"
#include "tests/support/check.hpp"
#include "tests/support/inputs.hpp"

namespace narrowcast::test {
namespace {

const Stream kDice = stream_of({.seed = 42, .tensor = 3});

struct Outcome {
  std::vector<std::byte> message;
  std::vector<float> residual;
};

// Encodes in pieces of `piece` values, each told where it begins.
Outcome in_pieces(const Codec& codec, Floats x, std::size_t piece, const Encoding& how) {
  Outcome outcome{{}, std::vector<float>(how.residual.begin(), how.residual.end())};
  for (std::size_t begin = 0; begin < x.size(); begin += piece) {
    const std::size_t count = std::min(piece, x.size() - begin);
    Encoding part = how;
    part.first_index += begin;
    if (!how.residual.empty())
      part.residual = MutableFloats(outcome.residual).subspan(begin, count);
    const std::vector<std::byte> bytes = encoded(codec, x.subspan(begin, count), part);
    outcome.message.insert(outcome.message.end(), bytes.begin(), bytes.end());
  }
  return outcome;
}

std::vector<std::size_t> pieces_of(const Codec& codec) {
  const std::size_t block = codec.promise().block;
  return {block, 3 * block, 64 * block};
}

TEST(EveryCodec, MayBeCutAtBlockBorders) {
  for_every_codec([](const Codec& codec) {
    const std::size_t block = codec.promise().block;
    if (block == 0) return;
    for (const Input& input : any_inputs(codec, 5 * block + block / 2 + 3))
      for (const std::size_t piece : pieces_of(codec)) {
        const Encoding how{.stream = kDice, .first_index = 7 * block};
        const std::vector<std::byte> whole = encoded(codec, input.values, how);
        EXPECT_TRUE(same_bytes(in_pieces(codec, input.values, piece, how).message, whole))
            << input.name << " in pieces of " << piece;
      }
  });
}

TEST(EveryCodec, MayBeCutWithResidualAndExponentToo) {
  for_every_codec([](const Codec& codec) {
    const std::size_t block = codec.promise().block;
    if (block == 0) return;
    const std::size_t count = std::max<std::size_t>(5 * block + block / 2 + 3, 9000);
    const std::vector<float> x = normal(count);
    for (const int exponent : {0, 3, -4}) {
      std::vector<float> residual = normal(count, 99);
      const Encoding how{.stream = kDice, .exponent = exponent, .residual = residual};
      const Outcome cut = in_pieces(codec, x, 3 * block, how);
      EXPECT_TRUE(same_bytes(cut.message, encoded(codec, x, how)));
      EXPECT_TRUE(same_values(cut.residual, residual));
    }
  });
}

TEST(EveryCodec, DecodesThePiecesOfACutMessage) {
  for_every_codec([](const Codec& codec) {
    const std::size_t block = codec.promise().block;
    if (block == 0 || !codec.promise().fixed_size) return;
    const std::size_t count = 5 * block + block / 2 + 1;
    const std::vector<float> x = normal(count);
    const std::vector<std::byte> message = encoded(codec, x, {.stream = kDice});
    const std::size_t border = 2 * block;
    const Bytes first = Bytes(message).first(codec.max_bytes(border));
    const Bytes second = Bytes(message).subspan(first.size());
    std::vector<float> joined = decoded(codec, first, border);
    const std::vector<float> rest = decoded(codec, second, count - border);
    joined.insert(joined.end(), rest.begin(), rest.end());
    EXPECT_TRUE(same_values(joined, decoded(codec, message, count)));
  });
}

std::vector<std::size_t> parallel_counts(const Codec& codec) {
  const std::size_t block = std::max<std::size_t>(codec.promise().block, 1);
  return {0, 1, block, 3 * block + 1, 7 * block - 1, 150'001};
}

TEST(EveryCodecInParallel, WritesTheBytesOfOneThread) {
  for (const int size : {1, 2, 3}) {
    Team team(size);
    for_every_codec([&](const Codec& codec) {
      for (const std::size_t count : parallel_counts(codec)) {
        SCOPED_TRACE(std::to_string(count) + " values, threads: " + std::to_string(size));
        const std::vector<float> x = normal(count);
        for (const int exponent : {0, 2}) {
          std::vector<float> alone = normal(count, 5);
          std::vector<float> together = alone;
          const std::vector<std::byte> expected =
              encoded(codec, x, {.stream = kDice, .exponent = exponent, .residual = alone});
          std::vector<std::byte> message(codec.max_bytes(count));
          message.resize(encode(codec, x, message,
                                {.stream = kDice, .exponent = exponent, .residual = together},
                                team));
          EXPECT_TRUE(same_bytes(message, expected));
          EXPECT_TRUE(same_values(together, alone));
        }
      }
    });
  }
}

TEST(EveryCodecInParallel, DecodesAndAccumulatesAsOneThread) {
  for (const int size : {1, 2, 3}) {
    Team team(size);
    for_every_codec([&](const Codec& codec) {
      for (const std::size_t count : parallel_counts(codec)) {
        const std::vector<std::byte> message = encoded(codec, normal(count), {.stream = kDice});
        std::vector<float> out(count);
        decode(codec, message, out, 1, team);
        EXPECT_TRUE(same_values(out, decoded(codec, message, count, 1)));
        std::vector<float> sum = normal(count, 6);
        std::vector<float> expected = sum;
        accumulate(codec, message, sum, 1, team);
        codec.accumulate(message, expected, 1);
        EXPECT_TRUE(same_values(sum, expected));
      }
    });
  }
}

TEST(EveryCodecInParallel, RefusesABrokenMessageAsOneThread) {
  Team team(2);
  for_every_codec([&](const Codec& codec) {
    std::vector<std::byte> message = encoded(codec, normal(20'000), {.stream = kDice});
    message.push_back(std::byte{0});
    std::vector<float> out(20'000);
    EXPECT_EQ(fault_of([&] { decode(codec, message, out, 0, team); }), Fault::wire);
    EXPECT_EQ(fault_of([&] { accumulate(codec, message, out, 0, team); }), Fault::wire);
  });
}

TEST(EveryCodecOnTwoThreads, MayBeUsedByBothAtOnce) {
  for_every_codec([](const Codec& codec) {
    const std::vector<float> x = normal(5000);
    const std::vector<float> y = normal(5000, 2);
    const std::vector<float> expected_x = round_trip(codec, x);
    const std::vector<float> expected_y = round_trip(codec, y);
    std::vector<float> out_x;
    std::thread other([&] { out_x = round_trip(codec, x); });
    const std::vector<float> out_y = round_trip(codec, y);
    other.join();
    EXPECT_TRUE(same_values(out_x, expected_x));
    EXPECT_TRUE(same_values(out_y, expected_y));
  });
}

}  // namespace
}  // namespace narrowcast::test
