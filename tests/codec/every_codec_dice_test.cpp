#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/support/catalogue.hpp"
#include "tests/support/check.hpp"
#include "tests/support/inputs.hpp"

namespace narrowcast::test {
namespace {

constexpr std::size_t kCount = 1024;

template <class Body>
void for_every_stochastic_codec(Body body) {
  for_every_codec([&](const Codec& codec) {
    if (is_stochastic(codec)) body(codec);
  });
}

TEST(EveryStochasticCodec, ExistsInTheCatalogue) {
  int found = 0;
  for_every_stochastic_codec([&](const Codec&) { ++found; });
  EXPECT_GT(found, 3);
}

TEST(EveryStochasticCodec, ThrowsOtherDiceForEveryPartOfTheirKey) {
  for_every_stochastic_codec([](const Codec& codec) {
    const std::vector<float> x = normal(kCount);
    const Dice dice{.seed = 1, .step = 2, .tensor = 3, .rank = 4, .hop = 5};
    const auto bytes = [&](const Dice& d) { return encoded(codec, x, {.stream = stream_of(d)}); };
    const std::vector<std::byte> first = bytes(dice);
    EXPECT_TRUE(same_bytes(bytes(dice), first));
    Dice other = dice;
    other.seed = 9;
    EXPECT_FALSE(same_bytes(bytes(other), first)) << "seed";
    other = dice;
    other.step = 9;
    EXPECT_FALSE(same_bytes(bytes(other), first)) << "step";
    other = dice;
    other.tensor = 9;
    EXPECT_FALSE(same_bytes(bytes(other), first)) << "tensor";
    other = dice;
    other.rank = 9;
    EXPECT_FALSE(same_bytes(bytes(other), first)) << "rank";
    other = dice;
    other.stage = Stage::again;
    EXPECT_FALSE(same_bytes(bytes(other), first)) << "stage";
    other = dice;
    other.hop = 9;
    EXPECT_FALSE(same_bytes(bytes(other), first)) << "hop";
  });
}

TEST(EveryStochasticCodec, ThrowsOtherDiceForEveryBlock) {
  for_every_stochastic_codec([](const Codec& codec) {
    const std::size_t block = codec.promise().block;
    if (block == 0) return;
    // Large enough that two runs do not agree by chance.
    const std::size_t apart = (kCount + block - 1) / block * block;
    const std::vector<float> x = normal(apart);
    const Stream dice = stream_of({.seed = 8});
    const std::vector<float> here = round_trip(codec, x, {.stream = dice});
    const std::vector<float> there = round_trip(codec, x, {.stream = dice, .first_index = apart});
    EXPECT_FALSE(same_values(there, here));
    std::vector<float> twice = x;
    twice.insert(twice.end(), x.begin(), x.end());
    const std::vector<float> both = round_trip(codec, twice, {.stream = dice});
    EXPECT_TRUE(same_values(Floats(both).first(apart), here));
    EXPECT_TRUE(same_values(Floats(both).subspan(apart), there));
  });
}

TEST(EveryCodec, ThatIsNotStochasticIgnoresTheDice) {
  for_every_codec([](const Codec& codec) {
    if (is_stochastic(codec)) return;
    const std::vector<float> x = normal(kCount);
    EXPECT_TRUE(same_bytes(encoded(codec, x, {.stream = stream_of({.seed = 1})}),
                           encoded(codec, x, {.stream = stream_of({.seed = 2})})));
  });
}

// Mean and variance of each decoded value over many throws.
class Tally {
 public:
  explicit Tally(std::size_t count) : sum_(count), squares_(count) {}

  void add(const std::vector<double>& values) {
    ++throws_;
    for (std::size_t i = 0; i < values.size(); ++i) {
      sum_[i] += values[i];
      squares_[i] += values[i] * values[i];
    }
  }
  double throws() const { return throws_; }
  double mean(std::size_t i) const { return sum_[i] / throws_; }
  double variance(std::size_t i) const {
    return std::max(0.0, (squares_[i] - throws_ * mean(i) * mean(i)) / (throws_ - 1));
  }

 private:
  double throws_ = 0;
  std::vector<double> sum_;
  std::vector<double> squares_;
};

Tally throw_often(const Codec& codec, Floats x, int times) {
  Tally tally(x.size());
  for (int i = 0; i < times; ++i) {
    const Stream dice = stream_of({.seed = 1000 + static_cast<std::uint64_t>(i)});
    const std::vector<float> out = round_trip(codec, x, {.stream = dice});
    tally.add({out.begin(), out.end()});
  }
  return tally;
}

double promised_bias(const Codec& codec, Floats x, std::size_t i) {
  const Promise& promise = codec.promise();
  const double reference =
      is_element_wise(codec) ? std::fabs(double{x[i]}) : largest_magnitude(block_of(codec, x, i));
  return *promise.bias * reference + promise.absolute;
}

TEST(EveryStochasticCodec, IsAsUnbiasedAsItPromises) {
  for_every_stochastic_codec([](const Codec& codec) {
    constexpr int kTimes = 600;
    for (const Input& input : finite_inputs(kCount)) {
      const Floats x = input.values;
      if (largest_magnitude(x) > std::min(codec.promise().largest, 1e30)) continue;
      const Tally tally = throw_often(codec, x, kTimes);
      double drift = 0, allowed = 0, variance = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double bias = promised_bias(codec, x, i);
        const double error = tally.mean(i) - double{x[i]};
        const double sigma = std::sqrt(tally.variance(i) / kTimes);
        // An outcome rarer than once in kTimes throws may not have come, and counts by its size.
        const double unseen =
            12.0 / kTimes *
            promised_error(codec.promise(), x[i], largest_magnitude(block_of(codec, x, i)));
        ASSERT_LE(std::fabs(error), bias + 5 * sigma + unseen) << input.name << ", value " << i;
        drift += error;
        allowed += bias;
        variance += tally.variance(i) / kTimes;
      }
      EXPECT_LE(std::fabs(drift), allowed + 6 * std::sqrt(variance)) << input.name;
    }
  });
}

// Variance over throws of the mean of `ranks` ranks, averaged over the values, and its own error.
struct Estimate {
  double value = 0;
  double error = 0;
};

Estimate variance_of_mean(const Codec& codec, Floats x, std::uint32_t ranks) {
  Tally tally(x.size());
  for (std::uint64_t step = 0; step < 48; ++step) {
    std::vector<float> sum(x.size());
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      const Stream dice = stream_of({.seed = 3, .step = step, .rank = rank});
      codec.accumulate(encoded(codec, x, {.stream = dice}), sum);
    }
    std::vector<double> mean(sum.begin(), sum.end());
    for (double& value : mean) value /= ranks;
    tally.add(mean);
  }
  std::vector<double> variances(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) variances[i] = tally.variance(i);
  const auto n = static_cast<double>(x.size());
  const double average = std::accumulate(variances.begin(), variances.end(), 0.0) / n;
  double spread = 0;
  for (const double v : variances) spread += (v - average) * (v - average);
  return {average, std::sqrt(spread / n / n)};
}

TEST(EveryStochasticCodec, LosesVarianceOfTheMeanWithTheNumberOfRanks) {
  for_every_stochastic_codec([](const Codec& codec) {
    const std::vector<float> x = normal(kCount);
    const Estimate one = variance_of_mean(codec, x, 1);
    ASSERT_GT(one.value, 0);
    for (const std::uint32_t ranks : {4u, 16u}) {
      const Estimate many = variance_of_mean(codec, x, ranks);
      const double error = std::hypot(one.error, ranks * many.error);
      EXPECT_NEAR(ranks * many.value, one.value, 5 * error) << ranks << " ranks";
      EXPECT_LT(5 * error, one.value / 2) << "too few throws to tell";
    }
  });
}

}  // namespace
}  // namespace narrowcast::test
