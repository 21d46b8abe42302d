#include "codec/frame.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <xxhash.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "codec/samples.hpp"
#include "tests/support/fault_text.hpp"

namespace narrowcast::test {
namespace {

using Frame = std::vector<std::byte>;

constexpr std::size_t kVersionAt = 8;
constexpr std::size_t kSpecLengthAt = 10;
constexpr std::size_t kReservedAt = 12;
constexpr std::size_t kCountAt = 16;
constexpr std::size_t kPayloadAt = 24;
constexpr std::size_t kSpecAt = 32;

std::vector<float> gradient(std::size_t count) {
  std::vector<float> values(count);
  distribution("gradient").draw(stream_of({.seed = 3}), 0, values);
  return values;
}

Frame frame_of(std::string_view spec, std::size_t count = 100) {
  return write_frame(*make_codec(spec), gradient(count));
}

// Makes the checksum right again, as whoever wants to do harm would.
void seal(Frame& frame) {
  const std::size_t covered = frame.size() - sizeof(std::uint64_t);
  put(MutableBytes(frame).subspan(covered),
      static_cast<std::uint64_t>(XXH3_64bits(frame.data(), covered)));
}

template <class T>
Frame forged(Frame frame, std::size_t at, T value) {
  put(MutableBytes(frame).subspan(at), value);
  seal(frame);
  return frame;
}

// A frame with any spec and payload, sealed.
Frame made_by_hand(const std::string& spec, std::uint64_t count, std::size_t payload) {
  Frame frame = frame_of("fp32", 0);
  frame.resize(kSpecAt + spec.size() + payload + sizeof(std::uint64_t));
  put(MutableBytes(frame).subspan(kSpecLengthAt), static_cast<std::uint16_t>(spec.size()));
  put(MutableBytes(frame).subspan(kCountAt), count);
  put(MutableBytes(frame).subspan(kPayloadAt), static_cast<std::uint64_t>(payload));
  copy(std::as_bytes(std::span(spec)), MutableBytes(frame).subspan(kSpecAt));
  seal(frame);
  return frame;
}

void expect_broken(const Frame& frame, const std::string& what) {
  for (const bool decoding : {false, true}) {
    try {
      if (decoding)
        decode_frame(frame);
      else
        read_frame(frame);
      ADD_FAILURE() << what << " was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(Fault::wire, error.fault()) << what << ": " << error.what();
    }
  }
}

template <class Check>
void for_every_variant(Check check) {
  for (const CodecRow& row : codecs())
    for (const std::string_view spec : row.variants) {
      SCOPED_TRACE(spec);
      check(std::string(spec));
    }
}

TEST(Frame, IsLaidOutAsDocumented) {
  const std::vector<float> values = {1.0f, -2.0f};
  const Frame frame = write_frame(*make_codec("fp32"), values);
  const std::string start(
      "\x8eNCF\r\n\x1a\n"  // magic
      "\1\0"
      "\4\0"
      "\0\0\0\0"           // version, length of the spec, reserved
      "\2\0\0\0\0\0\0\0"   // values
      "\10\0\0\0\0\0\0\0"  // bytes of payload
      "fp32"
      "\0\0\x80\x3f"
      "\0\0\0\xc0",
      44);
  ASSERT_EQ(start.size() + 8, frame.size());
  EXPECT_EQ(start, std::string(reinterpret_cast<const char*>(frame.data()), start.size()));
  EXPECT_EQ(XXH3_64bits(start.data(), start.size()), get<std::uint64_t>(Bytes(frame).last(8)));
}

TEST(Frame, SaysWhatIsInIt) {
  const Frame frame = frame_of("fp32", 100);
  const FrameInfo info = read_frame(frame);
  EXPECT_EQ(1, info.version);
  EXPECT_EQ("fp32", info.spec);
  EXPECT_EQ(100u, info.count);
  EXPECT_EQ(400u, info.payload.size());
  EXPECT_EQ(1, compression_ratio(info));
}

TEST(Frame, OfNothingHasNoRatioToSpeakOf) {
  const Frame frame = frame_of("fp32", 0);
  EXPECT_EQ(1, compression_ratio(read_frame(frame)));
}

TEST(EveryFrame, DecodesToWhatTheCodecDecodes) {
  for_every_variant([](const std::string& spec) {
    const auto codec = make_codec(spec);
    for (const std::size_t count : {0u, 1u, 2u, 1000u}) {
      const std::vector<float> values = gradient(count);
      Frame message(codec->max_bytes(count));
      message.resize(codec->encode(values, message));
      std::vector<float> decoded(count);
      codec->decode(message, decoded);

      const Frame frame = write_frame(*codec, values);
      EXPECT_EQ(codec->spec(), read_frame(frame).spec);
      EXPECT_EQ(decoded, decode_frame(frame)) << count;
    }
  });
}

TEST(EveryFrame, IsBrokenWhenCutAnywhere) {
  for_every_variant([](const std::string& spec) {
    const Frame frame = frame_of(spec, 9);
    for (std::size_t size = 0; size < frame.size(); ++size)
      expect_broken(Frame(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(size)),
                    "cut to " + std::to_string(size));
  });
}

TEST(EveryFrame, IsBrokenByAnyFlippedBit) {
  for_every_variant([](const std::string& spec) {
    Frame frame = frame_of(spec, 9);
    for (std::size_t bit = 0; bit < 8 * frame.size(); ++bit) {
      frame[bit / 8] ^= std::byte(1 << bit % 8);
      expect_broken(frame, "bit " + std::to_string(bit));
      frame[bit / 8] ^= std::byte(1 << bit % 8);
    }
  });
}

TEST(Frame, IsBrokenByAnythingAfterIt) {
  Frame frame = frame_of("fp32");
  frame.push_back(std::byte{0});
  expect_broken(frame, "a byte more");
  Frame twice = frame_of("fp32");
  const Frame once = twice;
  twice.insert(twice.end(), once.begin(), once.end());
  expect_broken(twice, "two frames");
}

TEST(Frame, OfALaterVersionIsRefusedAndBothAreNamed) {
  const Frame later = forged(frame_of("fp32"), kVersionAt, std::uint16_t{2});
  EXPECT_THAT(fault_text([&] { read_frame(later); }),
              testing::HasSubstr("version 2, and this program reads version 1"));
}

TEST(Frame, RefusesHeadersThatLie) {
  const Frame frame = frame_of("fp32");
  expect_broken(forged(frame, kVersionAt, std::uint16_t{2}), "another version");
  expect_broken(forged(frame, kReservedAt, std::uint32_t{1}), "a reserved field");
  expect_broken(forged(frame, kSpecLengthAt, std::uint16_t{0}), "no spec");
  expect_broken(forged(frame, kSpecLengthAt, std::uint16_t{65535}), "a long spec");
  expect_broken(forged(frame, kSpecLengthAt, std::uint16_t{3}), "a short spec");
  expect_broken(forged(frame, kCountAt, std::uint64_t{99}), "fewer values");
  expect_broken(forged(frame, kCountAt, std::uint64_t{101}), "more values");
  expect_broken(forged(frame, kPayloadAt, ~std::uint64_t{0}), "an endless payload");
  expect_broken(forged(frame, kPayloadAt, std::uint64_t{0}), "no payload");
}

TEST(EveryFrame, RefusesEndlessCountsWithoutTryingToStoreThem) {
  for_every_variant([](const std::string& spec) {
    const Frame frame = frame_of(spec);
    for (const int power : {32, 40, 56, 60, 61, 62, 63})
      expect_broken(forged(frame, kCountAt, std::uint64_t{1} << power),
                    "2^" + std::to_string(power) + " values");
    expect_broken(forged(frame, kCountAt, ~std::uint64_t{0}), "2^64 - 1 values");
  });
}

TEST(Frame, RefusesSpecsThatNoEncoderWrites) {
  expect_broken(made_by_hand("nothing", 0, 0), "an unknown codec");
  expect_broken(made_by_hand("fp32:", 0, 0), "a stray colon");
  expect_broken(made_by_hand("dynamic8", 0, 0), "a spec that is not canonical");
  expect_broken(made_by_hand("onebit:column=shape", 0, 0), "a shape that nobody knows");
  expect_broken(made_by_hand(std::string("fp32\0", 5), 0, 0), "a zero byte");
  expect_broken(made_by_hand(std::string(257, 'x'), 0, 0), "a spec of 257 letters");
  EXPECT_NO_THROW(read_frame(made_by_hand("fp32", 0, 0)));
}

TEST(Frame, DoesNotQuoteASpecThatCannotBePrinted) {
  for (const std::string spec : {"fp32\x1b[31m", "fp 32", "fp32\n", "fp32\x7f", "fp32\xe9"}) {
    const Frame frame = made_by_hand(spec, 0, 0);
    expect_broken(frame, spec);
    try {
      read_frame(frame);
    } catch (const Error& error) {
      EXPECT_STREQ("broken frame: its spec is not printable ASCII", error.what());
    }
  }
}

TEST(Frame, IsReadAndDecodedInOneGo) {
  const Frame frame = frame_of("dynamic8");
  const DecodedFrame decoded = read_and_decode(frame);
  EXPECT_EQ(read_frame(frame).spec, decoded.info.spec);
  EXPECT_EQ(read_frame(frame).checksum, decoded.info.checksum);
  EXPECT_EQ(decode_frame(frame), decoded.values);
}

TEST(Frame, HasNoRoomForAnExponent) {
  EXPECT_THROW(write_frame(*make_codec("fp32"), gradient(4), {.exponent = 1}), Error);
}

TEST(EveryFrame, HoldsZerosHoweverFewBitsTheyTake) {
  for_every_variant([](const std::string& spec) {
    const std::vector<float> zeros(1 << 21);
    EXPECT_EQ(zeros, decode_frame(write_frame(*make_codec(spec), zeros)));
  });
}

}  // namespace
}  // namespace narrowcast::test
