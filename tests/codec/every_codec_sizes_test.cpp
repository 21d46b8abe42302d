#include <gmock/gmock.h>

#include <algorithm>

#include "tests/support/catalogue.hpp"
#include "tests/support/check.hpp"
#include "tests/support/inputs.hpp"

namespace narrowcast::test {
namespace {

constexpr auto kUntouched = std::byte{0xa5};

TEST(EveryCodec, IsInTheCatalogueWithVariants) {
  EXPECT_FALSE(codecs().empty());
  for (const CodecRow& row : codecs()) {
    EXPECT_FALSE(row.summary.empty()) << row.name;
    EXPECT_FALSE(row.variants.empty()) << row.name;
    for (const std::string_view variant : row.variants)
      EXPECT_EQ(variant.substr(0, variant.find(':')), row.name);
  }
}

TEST(EveryCodec, TakesAnyNumberOfValues) {
  for_every_codec([](const Codec& codec) {
    for (const std::size_t count : awkward_counts(codec)) {
      SCOPED_TRACE(count);
      const std::vector<float> x = normal(count);
      EXPECT_TRUE(keeps_error_promise(codec, x, round_trip(codec, x)));
    }
  });
}

TEST(EveryCodec, WritesNoMoreThanItsBoundAndExactlyThatWhenItsSizeIsFixed) {
  for_every_codec([](const Codec& codec) {
    for (const std::size_t count : awkward_counts(codec))
      for (const Input& input : any_inputs(codec, count)) {
        SCOPED_TRACE(input.name + " " + std::to_string(count));
        const std::size_t bound = codec.max_bytes(count);
        std::vector<std::byte> message(bound + 64, kUntouched);
        const std::size_t used = codec.encode(input.values, message);
        EXPECT_LE(used, bound);
        EXPECT_TRUE(used == bound || !codec.promise().fixed_size) << used << " of " << bound;
        const auto beyond = Bytes(message).subspan(bound);
        EXPECT_TRUE(std::ranges::all_of(beyond, [](std::byte b) { return b == kUntouched; }));
      }
  });
}

TEST(EveryCodec, WritesEveryByteThatItCounts) {
  for_every_codec([](const Codec& codec) {
    for (const std::size_t count : awkward_counts(codec)) {
      const std::vector<float> x = normal(count);
      std::vector<std::byte> zeros(codec.max_bytes(count), std::byte{0});
      std::vector<std::byte> ones(codec.max_bytes(count), std::byte{0xff});
      zeros.resize(codec.encode(x, zeros));
      ones.resize(codec.encode(x, ones));
      EXPECT_TRUE(same_bytes(zeros, ones)) << count;
    }
  });
}

TEST(EveryCodec, BoundGrowsWithTheNumberOfValues) {
  for_every_codec([](const Codec& codec) {
    EXPECT_LE(codec.max_bytes(0), codec.max_bytes(1));
    for (std::size_t count = 1; count < 5000; ++count)
      ASSERT_LE(codec.max_bytes(count - 1), codec.max_bytes(count)) << count;
  });
}

TEST(EveryCodec, CountsInSixtyFourBits) {
  for_every_codec([](const Codec& codec) {
    const std::size_t many = std::size_t{1} << 40;
    const std::size_t bytes = codec.max_bytes(many);
    EXPECT_GT(bytes, many / 64);
    EXPECT_LT(bytes, many * 8);
  });
}

TEST(EveryCodec, RefusesAnOutputThatIsTooSmall) {
  for_every_codec([](const Codec& codec) {
    const std::vector<float> x = normal(100);
    std::vector<std::byte> message(codec.max_bytes(100) - 1);
    EXPECT_EQ(fault_of([&] { codec.encode(x, message); }), Fault::usage);
  });
}

TEST(EveryCodec, RefusesAnExponentOutOfRange) {
  for_every_codec([](const Codec& codec) {
    const std::vector<float> x = normal(10);
    std::vector<std::byte> message(codec.max_bytes(10));
    for (const int exponent : {kMaxExponent + 1, -kMaxExponent - 1}) {
      EXPECT_EQ(fault_of([&] { codec.encode(x, message, {.exponent = exponent}); }), Fault::usage);
      const std::vector<std::byte> good = encoded(codec, x);
      std::vector<float> out(10);
      EXPECT_EQ(fault_of([&] { codec.decode(good, out, exponent); }), Fault::usage);
      EXPECT_EQ(fault_of([&] { codec.accumulate(good, out, exponent); }), Fault::usage);
    }
  });
}

TEST(EveryCodec, RefusesAResidualOfAnotherLength) {
  for_every_codec([](const Codec& codec) {
    const std::vector<float> x = normal(10);
    std::vector<std::byte> message(codec.max_bytes(10));
    for (const std::size_t length : {1, 9, 11}) {
      std::vector<float> residual(length);
      EXPECT_EQ(fault_of([&] { codec.encode(x, message, {.residual = residual}); }), Fault::usage);
    }
  });
}

TEST(EveryCodec, RefusesToStartWithinABlock) {
  for_every_codec([](const Codec& codec) {
    if (codec.promise().block == 1) return;
    const std::vector<float> x = normal(10);
    std::vector<std::byte> message(codec.max_bytes(10));
    EXPECT_EQ(fault_of([&] { codec.encode(x, message, {.first_index = 1}); }), Fault::usage);
  });
}

}  // namespace
}  // namespace narrowcast::test
