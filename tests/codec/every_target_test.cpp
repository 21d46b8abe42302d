#include <gmock/gmock.h>

#include <algorithm>

#include "tests/support/catalogue.hpp"
#include "tests/support/check.hpp"
#include "tests/support/inputs.hpp"
#include "tests/support/target_scope.hpp"

namespace narrowcast::test {
namespace {

using testing::Contains;
using testing::HasSubstr;

const Stream kDice = stream_of({.seed = 77, .tensor = 5, .rank = 2});

struct Trace {
  std::vector<std::byte> message;
  std::vector<float> residual;
  std::vector<float> values;
  std::vector<float> sum;
};

// Everything a codec computes from one input.
Trace trace(const Codec& codec, Floats x, int exponent) {
  Trace made;
  made.residual = std::vector<float>(x.size(), 0.25f);
  made.message = encoded(codec, x, {.stream = kDice, .exponent = exponent});
  encoded(codec, x, {.stream = kDice, .exponent = exponent, .residual = made.residual});
  made.values = decoded(codec, made.message, x.size(), exponent);
  made.sum = std::vector<float>(x.size(), 1.5f);
  codec.accumulate(made.message, made.sum, exponent);
  return made;
}

void expect_same(const Trace& actual, const Trace& expected) {
  ASSERT_TRUE(same_bytes(actual.message, expected.message)) << "encode";
  ASSERT_TRUE(same_values(actual.values, expected.values)) << "decode";
  ASSERT_TRUE(same_values(actual.sum, expected.sum)) << "accumulate";
  ASSERT_TRUE(same_values(actual.residual, expected.residual)) << "residual";
}

std::vector<std::string> vector_targets() {
  std::vector<std::string> targets = cpu_targets();
  targets.erase(targets.begin());
  return targets;
}

TEST(EveryTarget, ListStartsWithScalarAndHoldsTheActiveOne) {
  ASSERT_FALSE(cpu_targets().empty());
  EXPECT_EQ(cpu_targets().front(), "scalar");
  EXPECT_THAT(cpu_targets(), Contains(active_target()));
  for (const std::string& target : cpu_targets()) EXPECT_THAT(compiled_targets(), Contains(target));
}

TEST(EveryTarget, CanBeChosenByName) {
  for (const std::string& target : cpu_targets()) {
    const TargetScope scope(target);
    EXPECT_EQ(active_target(), target);
  }
}

TEST(EveryTarget, IsNamedWhenAnUnknownOneIsAskedFor) {
  try {
    use_target("abacus");
    FAIL() << "took an unknown target";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::usage);
    for (const std::string& target : cpu_targets()) EXPECT_THAT(error.what(), HasSubstr(target));
  }
}

TEST(EveryTarget, GivesTheBitsOfTheScalarOneForAnyCount) {
  for_every_codec([](const Codec& codec) {
    for (const std::size_t count : awkward_counts(codec)) {
      std::vector<float> x = normal(count);
      if (codec.promise().non_finite != NonFinite::refuses_nan) x = with_specials(x);
      const auto run = [&](const std::string& target) {
        const TargetScope scope(target);
        return trace(codec, x, 0);
      };
      const Trace expected = run("scalar");
      for (const std::string& target : vector_targets()) {
        SCOPED_TRACE(target + ", " + std::to_string(count) + " values");
        expect_same(run(target), expected);
      }
    }
  });
}

TEST(EveryTarget, GivesTheBitsOfTheScalarOneForAnyValues) {
  for_every_codec([](const Codec& codec) {
    const std::size_t count = codec.promise().block + 1011;
    for (const Input& input : any_inputs(codec, count))
      for (const int exponent : {0, 7, -kMaxExponent, kMaxExponent}) {
        const auto run = [&](const std::string& target) {
          const TargetScope scope(target);
          return trace(codec, input.values, exponent);
        };
        const Trace expected = run("scalar");
        for (const std::string& target : vector_targets()) {
          SCOPED_TRACE(target + ", " + input.name + ", exponent " + std::to_string(exponent));
          expect_same(run(target), expected);
        }
      }
  });
}

// Codes that no input leads to are decoded alike as well, or refused alike.
TEST(EveryTarget, DecodesNoiseAsTheScalarOneDoes) {
  for_every_codec([](const Codec& codec) {
    for (std::size_t trial = 0; trial < 30; ++trial) {
      const std::size_t count = 700 + trial;
      std::vector<std::byte> noise(codec.max_bytes(count));
      for (std::size_t i = 0; i < noise.size(); ++i)
        noise[i] = static_cast<std::byte>(random16(kDice, trial * 8192 + i));
      const auto run = [&](const std::string& target) {
        const TargetScope scope(target);
        std::vector<float> out(count);
        const auto fault = fault_of([&] { codec.decode(noise, out); });
        if (fault) out.clear();
        return out;
      };
      const std::vector<float> expected = run("scalar");
      for (const std::string& target : vector_targets())
        ASSERT_TRUE(same_values(run(target), expected)) << target;
    }
  });
}

}  // namespace
}  // namespace narrowcast::test
