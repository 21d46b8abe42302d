#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/catalogue.hpp"
#include "tests/support/check.hpp"
#include "tests/support/inputs.hpp"

namespace narrowcast::test {
namespace {

const Stream kNoise = stream_of({.seed = 66});

// A decoder given bad bytes says so or makes values of them; anything else ends the test program.
void expect_wire_or_success(const Codec& codec, Bytes message, std::size_t count) {
  std::vector<float> out(count);
  const auto decode_fault = fault_of([&] { codec.decode(message, out); });
  const auto sum_fault = fault_of([&] { codec.accumulate(message, out); });
  EXPECT_TRUE(!decode_fault || *decode_fault == Fault::wire);
  EXPECT_EQ(decode_fault, sum_fault);
}

TEST(EveryCodec, RefusesAMessageThatIsTooShortOrTooLong) {
  for_every_codec([](const Codec& codec) {
    for (const std::size_t count : {0, 1, 33, 700}) {
      std::vector<std::byte> message = encoded(codec, normal(static_cast<std::size_t>(count)));
      std::vector<float> out(count);
      message.push_back(std::byte{0});
      EXPECT_EQ(fault_of([&] { codec.decode(message, out); }), Fault::wire) << count;
      EXPECT_EQ(fault_of([&] { codec.accumulate(message, out); }), Fault::wire) << count;
      message.pop_back();
      if (message.empty()) continue;
      message.pop_back();
      EXPECT_EQ(fault_of([&] { codec.decode(message, out); }), Fault::wire) << count;
      EXPECT_EQ(fault_of([&] { codec.decode({}, out); }), Fault::wire) << count;
    }
  });
}

TEST(EveryCodec, RefusesAMessageForAnotherNumberOfValues) {
  for_every_codec([](const Codec& codec) {
    const std::size_t block = std::max<std::size_t>(codec.promise().block, 64);
    const std::vector<std::byte> message = encoded(codec, normal(2 * block));
    std::vector<float> out(8 * block);
    EXPECT_EQ(fault_of([&] { codec.decode(message, out); }), Fault::wire);
  });
}

TEST(EveryCodec, SurvivesEveryTruncation) {
  for_every_codec([](const Codec& codec) {
    const std::vector<std::byte> message = encoded(codec, normal(300));
    for (std::size_t length = 0; length < message.size(); ++length)
      expect_wire_or_success(codec, Bytes(message).first(length), 300);
  });
}

TEST(EveryCodec, SurvivesEveryFlippedBit) {
  for_every_codec([](const Codec& codec) {
    const std::vector<std::byte> message = encoded(codec, normal(120));
    for (std::size_t bit = 0; bit < 8 * message.size(); ++bit) {
      std::vector<std::byte> bad = message;
      bad[bit / 8] ^= std::byte{1} << (bit % 8);
      expect_wire_or_success(codec, bad, 120);
    }
  });
}

TEST(EveryCodec, SurvivesNoise) {
  for_every_codec([](const Codec& codec) {
    for (std::size_t trial = 0; trial < 200; ++trial) {
      const std::size_t count = random16(kNoise, trial) % 300;
      std::vector<std::byte> noise(codec.max_bytes(count));
      for (std::size_t i = 0; i < noise.size(); ++i)
        noise[i] = static_cast<std::byte>(random16(kNoise, trial * 4096 + i));
      expect_wire_or_success(codec, noise, count);
      std::ranges::fill(noise, std::byte{0xff});
      expect_wire_or_success(codec, noise, count);
      std::ranges::fill(noise, std::byte{0});
      expect_wire_or_success(codec, noise, count);
    }
  });
}

// What the last byte holds beyond the last value is zero, or the message is not one of ours.
TEST(EveryCodec, AcceptsOnlyBytesThatAnEncoderWrites) {
  for_every_codec([](const Codec& codec) {
    if (is_stochastic(codec)) return;  // decoded values need not come back as the same codes
    for (std::size_t count = 1; count < 40; ++count) {
      std::vector<std::byte> message = encoded(codec, normal(count));
      const std::vector<float> values = decoded(codec, message, count);
      for (int bit = 0; bit < 8; ++bit) {
        std::vector<std::byte> bad = message;
        bad.back() ^= std::byte{1} << bit;
        std::vector<float> out(count);
        const bool refused = fault_of([&] { codec.decode(bad, out); }).has_value();
        EXPECT_TRUE(refused || !same_values(out, values)) << count << " values, bit " << bit;
      }
    }
  });
}

}  // namespace
}  // namespace narrowcast::test
