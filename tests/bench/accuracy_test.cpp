#include "bench/accuracy.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "bench/codec_bench.hpp"
#include "bench/published.hpp"
#include "bench/summary.hpp"
#include "codec/samples.hpp"

namespace narrowcast::bench::test {
namespace {

TEST(BrokenPromise, IsFoundWhereItIs) {
  Promise promise;
  promise.of_value = 0.1;
  const std::vector<float> exact = {1, 2, 3};
  EXPECT_EQ(std::nullopt, broken_promise(promise, exact, std::vector<float>{1, 2.1f, 3}));
  EXPECT_EQ(1u, broken_promise(promise, exact, std::vector<float>{1, 2.3f, 3}));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(2u, broken_promise(promise, exact, std::vector<float>{1, 2, nan}));
}

TEST(BrokenPromise, IsJudgedBlockByBlock) {
  Promise promise;
  promise.block = 2;
  promise.of_block = 0.5;
  const std::vector<float> exact = {0, 10, 0, 1};
  EXPECT_EQ(std::nullopt, broken_promise(promise, exact, std::vector<float>{5, 10, 0.5f, 1}));
  EXPECT_EQ(2u, broken_promise(promise, exact, std::vector<float>{5, 10, 5, 1}));
  Promise whole = promise;
  whole.block = 0;
  EXPECT_EQ(std::nullopt, broken_promise(whole, exact, std::vector<float>{5, 10, 5, 1}));
}

TEST(BrokenPromise, SaysNothingOfValuesBeyondTheLargest) {
  Promise promise;
  promise.largest = 100;
  EXPECT_EQ(std::nullopt,
            broken_promise(promise, std::vector<float>{1000}, std::vector<float>{100}));
}

TEST(EveryVariant, IsAsLargeAsItsNominalBitsSay) {
  std::vector<float> samples(1 << 20);
  distribution("gradient").draw(stream_of({.seed = 1}), 0, samples);
  for (const std::string& spec : all_variants()) {
    const auto codec = make_codec(spec);
    const Accuracy accuracy = measure_accuracy(*codec, samples, stream_of({.seed = 2}));
    EXPECT_GT(accuracy.bits_per_value, 0) << spec;
    if (codec->promise().fixed_size)
      EXPECT_EQ(nominal_bits(*codec), accuracy.bits_per_value) << spec;
    else
      EXPECT_LE(accuracy.bits_per_value, nominal_bits(*codec)) << spec;
  }
}

TEST(Fp32, HasNoError) {
  const std::vector<float> samples = {1, -2, 3};
  const Accuracy accuracy = measure_accuracy(*make_codec("fp32"), samples, {});
  EXPECT_EQ(0, accuracy.distortion.max_absolute());
  EXPECT_EQ(32, accuracy.bits_per_value);
}

// The paper printed two decimals, of 25 million samples. The largest of that many normals, which is
// the scale, is about 5.5 deviations from 0; among a million it has to be put there.
void put_largest_of_many(std::string_view name, std::vector<float>& samples) {
  if (name == "normal") samples[0] = 5.5f;
  if (name == "normal10") samples[0] = 55;
  if (name == "normal.2") samples[0] = 1.1f;
}

TEST(PaperTable, IsReproducedByThePapersRounding) {
  constexpr double kPoints = 0.1;
  std::vector<float> samples(1 << 20);
  int compared = 0;
  for (const Distribution& from : distributions()) {
    from.draw(stream_of({.seed = 1}), 0, samples);
    put_largest_of_many(from.name, samples);
    for (const std::string_view spec : published_specs()) {
      const auto codec = make_codec(spec);
      const auto published = published_error(*codec, from.name);
      if (!published || spec.find("rounding=paper") == std::string_view::npos) continue;
      const Accuracy accuracy = measure_accuracy(*codec, samples, {});
      EXPECT_NEAR(published->relative_percent, accuracy.distortion.mean_relative_percent(), kPoints)
          << spec << " on " << from.name;
      ++compared;
    }
  }
  EXPECT_EQ(12, compared);  // three types, four distributions
}

TEST(PaperTable, StandsBesideThePapersOwnSettingsOnly) {
  EXPECT_TRUE(published_error(*make_codec("dynamic8:block=0"), "normal"));
  EXPECT_FALSE(published_error(*make_codec("dynamic8"), "normal"));
  EXPECT_FALSE(published_error(*make_codec("dynamic8:block=0"), "laplace"));
  EXPECT_FALSE(published_error(*make_codec("fp32"), "normal"));
}

TEST(Summary, LeavesOutWhatIsNotFinite) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Summary summary = summarise(std::vector<float>{nan, 1, -3, infinity, 5});
  EXPECT_EQ(3u, summary.finite);
  EXPECT_EQ(2u, summary.not_finite);
  EXPECT_EQ(-3, summary.least);
  EXPECT_EQ(5, summary.most);
  EXPECT_EQ(1, summary.mean);
}

TEST(Summary, OfNothingIsZero) {
  const Summary summary = summarise({});
  EXPECT_EQ(0u, summary.finite);
  EXPECT_EQ(0, summary.least);
  EXPECT_EQ(0, summary.most);
  EXPECT_EQ(0, summary.mean);
}

}  // namespace
}  // namespace narrowcast::bench::test
