#include "bench/codec_bench.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "bench/comparison.hpp"
#include "bench/machine.hpp"
#include "codec/target.hpp"

namespace narrowcast::bench::test {
namespace {

void expect_sound(const CodecTime& time) {
  EXPECT_GT(time.encode_ns, 0) << time.codec;
  EXPECT_GT(time.decode_ns, 0) << time.codec;
  EXPECT_GT(time.accumulate_ns, 0) << time.codec;
  EXPECT_GT(time.memcpy_ns, 0) << time.codec;
  EXPECT_GT(time.bits_per_value, 0) << time.codec;
  EXPECT_EQ(active_target(), time.target) << time.codec;
}

// measure() checks the promise and accumulate() on the way.
TEST(CodecBenchThreads, MeasureEveryVariant) {
  for (const int threads : {1, 2}) {
    Team team(threads);
    CodecBench bench(5000, team);
    for (const std::string& spec : all_variants()) {
      const CodecTime time = bench.measure(spec, 0);
      EXPECT_EQ(spec, time.codec);
      EXPECT_EQ(5000u, time.values);
      EXPECT_EQ(threads, time.threads);
      expect_sound(time);
    }
  }
}

// One of that many values is beyond the largest number of the format.
TEST(CodecBench, MeasuresWhatOverflows) {
  Team alone(1);
  CodecBench bench(std::size_t{3} << 20, alone);
  const float largest = std::ranges::max(bench.input(), {}, [](float x) { return std::abs(x); });
  ASSERT_GT(std::abs(largest), make_codec("float:e=1,m=0")->promise().largest);
  expect_sound(bench.measure("float:e=1,m=0", 0));
}

TEST(CodecBench, DrawsTheSameInputForAnyNumberOfThreads) {
  Team one(1);
  Team three(3);
  const CodecBench alone(5000, one);
  const CodecBench together(5000, three);
  EXPECT_TRUE(std::ranges::equal(alone.input(), together.input()));
}

TEST(CodecBench, RefusesWhatDoesNotFitIntoMemory) {
  Team alone(1);
  const std::size_t too_many = this_machine().memory_bytes / sizeof(float);
  try {
    const CodecBench bench(too_many, alone);
    FAIL() << "expected an error";
  } catch (const Error& error) {
    EXPECT_EQ(Fault::system, error.fault());
  }
  EXPECT_THROW(CodecBench(0, alone), Error);
}

// Four tensors would fit, and five are needed.
TEST(Comparison, RefusesWhatDoesNotFitIntoMemory) {
  const std::size_t too_many = this_machine().available_bytes / (4 * sizeof(float));
  try {
    compare_codecs({.values = too_many});
    FAIL() << "expected an error";
  } catch (const Error& error) {
    EXPECT_EQ(Fault::system, error.fault());
  }
}

TEST(Comparison, HasARowForEachOfItsCodecs) {
  std::vector<std::string> announced;
  const std::vector<Comparison> rows =
      compare_codecs({.values = 5000, .seconds = 0, .before = [&](std::string_view spec) {
                        announced.emplace_back(spec);
                      }});
  ASSERT_EQ(comparison_specs().size(), rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(comparison_specs()[i], rows[i].time.codec);
    EXPECT_EQ(comparison_specs()[i], announced[i]);
    EXPECT_EQ(5000u, rows[i].distortion.count());
    EXPECT_DOUBLE_EQ(32, rows[i].ratio_to_fp32() * rows[i].time.bits_per_value);
    expect_sound(rows[i].time);
  }
}

TEST(Machine, HasACpuAndMemory) {
  const Machine machine = this_machine();
  EXPECT_FALSE(machine.cpu.empty());
  EXPECT_FALSE(machine.compiler.empty());
  EXPECT_GE(machine.cores, 1);
  EXPECT_GT(machine.memory_bytes, machine.available_bytes);
}

}  // namespace
}  // namespace narrowcast::bench::test
