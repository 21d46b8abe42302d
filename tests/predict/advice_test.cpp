#include "predict/advice.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "base/error.hpp"

namespace narrowcast {
namespace {

Profile profile_at(double bytes_a_second) {
  Profile profile{.name = "test", .cores = 2};
  profile.machine = profile.network = {.latency_us = 50, .bandwidth = bytes_a_second};
  profile.codecs = {
      {.codec = "fp32", .add_ns = 0.2},
      {.codec = "dynamic8", .encode_ns = 0.6, .decode_ns = 0.3, .add_ns = 0.3},
      {.codec = "onebit:column=512", .encode_ns = 0.5, .decode_ns = 0.2, .add_ns = 0.2}};
  profile.models = {{.name = "net",
                     .batch = 32,
                     .forward_ms = 10,
                     .backward_ms = 20,
                     .rest_ms = 2,
                     .tensors = {{"fc", 1'100'000, 2}, {"conv", 1'100'000, 20}}}};
  return profile;
}

TEST(Advice, IsToCompressOnASlowNetwork) {
  const Advice advice = advise(profile_at(1e8), {.model = "net"});
  EXPECT_EQ(advice.verdict, Verdict::compress);
  EXPECT_EQ(advice.best.codec, "onebit:column=512");
  EXPECT_GT(advice.gain.times, 1.5);
  EXPECT_EQ(advice.best.plan.rules.back().way.feedback, Feedback::on);
}

TEST(Advice, IsNotToCompressWhereItGainsNothing) {
  const Advice advice = advise(profile_at(1e11), {.model = "net"});
  EXPECT_EQ(advice.verdict, Verdict::do_not_compress);
  EXPECT_EQ(advice.best.codec, "fp32");
  EXPECT_LT(advice.gain.times, kWorthwhileGain);
  EXPECT_EQ(advice.dominant, "compute");
}

TEST(Advice, IsNotToCompressWhenTheGainIsUncertain) {
  Profile profile = profile_at(1e8);
  profile.network.spread = 2;
  profile.codecs[1].spread = profile.codecs[2].spread = 2;
  profile.codecs[1].encode_ns = profile.codecs[2].encode_ns = 20;
  EXPECT_EQ(advise(profile, {.model = "net"}).verdict, Verdict::do_not_compress);
}

TEST(Advice, FlipsWhereItSays) {
  const Advice advice = advise(profile_at(1e8), {.model = "net"});
  ASSERT_TRUE(std::isfinite(advice.flips_at));
  Profile quicker = profile_at(advice.flips_at * 1.5);
  EXPECT_EQ(advise(quicker, {.model = "net", .codecs = {advice.best.codec}}).verdict,
            Verdict::do_not_compress);
}

TEST(Advice, KeepsToTheErrorThatIsAllowed) {
  const Advice advice = advise(profile_at(1e8), {.model = "net", .max_error = 0.05});
  EXPECT_EQ(advice.best.codec, "dynamic8");
  const Advice strict = advise(profile_at(1e8), {.model = "net", .max_error = 1e-9});
  EXPECT_EQ(strict.verdict, Verdict::do_not_compress);
  EXPECT_TRUE(strict.narrow.codec.empty());
}

// "fc" has 18 ms to travel in: at 1 GB/s it needs 4.4 in fp32.
TEST(Advice, LeavesInFp32WhatHidesBehindComputing) {
  const Advice advice = advise(profile_at(1e9), {.model = "net", .codecs = {"dynamic8"}});
  ASSERT_EQ(advice.verdict, Verdict::compress);
  EXPECT_THAT(advice.kept, testing::ElementsAre("fc"));
  EXPECT_EQ(way_of(advice.best.plan, "fc", 1'100'000, {}).codec, "fp32");
  EXPECT_EQ(way_of(advice.best.plan, "conv", 1'100'000, {}).codec, "dynamic8");
}

TEST(Advice, LooksAtEachCodecOnce) {
  Profile profile = profile_at(1e9);
  profile.codecs.push_back({.codec = "*", .encode_ns = 1, .decode_ns = 1, .add_ns = 1});
  std::vector<std::string> codecs;
  for (const Candidate& candidate : advise(profile, {.model = "net"}).all)
    codecs.push_back(candidate.codec);
  EXPECT_THAT(codecs, testing::UnorderedElementsAre("fp32", "dynamic8", "onebit:column=512", "fp16",
                                                    "qsgd:bits=4"));
}

TEST(Advice, IsAPlanThatCanBeReadBack) {
  const Plan plan = advise(profile_at(1e9), {.model = "net"}).best.plan;
  EXPECT_EQ(parse_plan(to_toml(plan), "advice"), plan);
}

TEST(Advice, IsForSeveralWorkers) {
  EXPECT_THROW(advise(profile_at(1e9), {.model = "net", .workers = 1}), Error);
}

TEST(RoundingError, IsThatOfTheFormat) {
  EXPECT_EQ(rounding_error("fp32"), 0);
  // Three bits after the point: uniform within 2^-4 of a value's power of two.
  EXPECT_NEAR(rounding_error("float:e=8,m=3"), std::exp2(-4) / std::sqrt(3.0) * 0.65, 0.01);
  EXPECT_GT(rounding_error("onebit:column=512"), 0.5);
}

}  // namespace
}  // namespace narrowcast
