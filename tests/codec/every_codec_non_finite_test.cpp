#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "tests/support/catalogue.hpp"
#include "tests/support/check.hpp"
#include "tests/support/inputs.hpp"

namespace narrowcast::test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
const Stream kDice = stream_of({.seed = 6});

bool refuses(const Codec& codec, float value) {
  return std::isnan(value) && codec.promise().non_finite == NonFinite::refuses_nan;
}

// Whether a value may be touched by what stands beside it in its block.
bool shares_fate(const Codec& codec) {
  const NonFinite kind = codec.promise().non_finite;
  return kind == NonFinite::block_is_nan || kind == NonFinite::block_not_finite;
}

// Every NaN there is: quiet and signalling, of both signs, with bits low and high.
std::vector<float> specials() {
  std::vector<float> all{kInfinity, -kInfinity};
  for (const std::uint32_t bits :
       {0x7fc00000u, 0xffc00000u, 0x7f800001u, 0xff800001u, 0x7fffffffu, 0xffffffffu, 0x7fa00000u})
    all.push_back(std::bit_cast<float>(bits));
  return all;
}

void check_one(const Codec& codec, const std::vector<float>& clean, std::size_t place,
               float special) {
  std::vector<float> x = clean;
  x[place] = special;
  const std::vector<float> out = round_trip(codec, x, {.stream = kDice});
  ASSERT_TRUE(keeps_non_finite_promise(codec, x, out));
  const std::vector<float> undisturbed = round_trip(codec, clean, {.stream = kDice});
  const Floats block = block_of(codec, out, place);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const bool inside = &out[i] >= block.data() && &out[i] < block.data() + block.size();
    if (i == place || (inside && shares_fate(codec))) continue;
    ASSERT_TRUE(same_values({&out[i], 1}, {&undisturbed[i], 1}))
        << "value " << i << " beside the one at " << place;
  }
}

TEST(EveryCodec, KeepsItsPromiseForWhatIsNotFinite) {
  for_every_codec([](const Codec& codec) {
    const std::size_t count = std::max<std::size_t>(2 * codec.promise().block + 5, 200);
    const std::vector<float> clean = normal(count);
    for (const float special : specials())
      for (const std::size_t place : {std::size_t{0}, std::size_t{37}, count / 2, count - 1}) {
        if (refuses(codec, special)) continue;
        SCOPED_TRACE(std::to_string(special) + " at " + std::to_string(place));
        check_one(codec, clean, place, special);
      }
  });
}

TEST(EveryCodec, NeverTurnsNanIntoAPlausibleNumber) {
  for_every_codec([](const Codec& codec) {
    if (codec.promise().non_finite == NonFinite::refuses_nan) return;
    for (const Input& input : finite_inputs(100))
      for (const std::size_t place : {0, 63, 99}) {
        std::vector<float> x = input.values;
        x[place] = kNan;
        EXPECT_FALSE(std::isfinite(round_trip(codec, x)[place])) << input.name;
      }
  });
}

TEST(EveryCodec, TakesBlocksOfNothingButSpecials) {
  for_every_codec([](const Codec& codec) {
    for (const float special : specials()) {
      if (refuses(codec, special)) continue;
      const std::vector<float> x(300, special);
      EXPECT_TRUE(keeps_non_finite_promise(codec, x, round_trip(codec, x)));
    }
    const std::vector<float> both{kInfinity, -kInfinity, kInfinity, 1.0f};
    EXPECT_TRUE(keeps_non_finite_promise(codec, both, round_trip(codec, both)));
  });
}

TEST(EveryCodec, ThatRefusesNanWritesNothingFirst) {
  for_every_codec([](const Codec& codec) {
    if (codec.promise().non_finite != NonFinite::refuses_nan) return;
    for (const float special : specials()) {
      if (!std::isnan(special)) continue;
      for (const std::size_t place : {0, 4999, 9999}) {
        std::vector<float> x = normal(10'000);
        x[place] = special;
        std::vector<std::byte> message(codec.max_bytes(x.size()), std::byte{0x5a});
        const std::vector<std::byte> untouched = message;
        EXPECT_EQ(fault_of([&] { codec.encode(x, message); }), Fault::usage);
        EXPECT_TRUE(same_bytes(message, untouched));
      }
    }
  });
}

}  // namespace
}  // namespace narrowcast::test
