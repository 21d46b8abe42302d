#include "bench/sampling.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.hpp"
#include "bench/machine.hpp"

namespace narrowcast::bench::test {
namespace {

TEST(Samples, AreTheSameHoweverTheyAreAskedFor) {
  Samples little_by_little(distribution("gradient"));
  little_by_little.first(1000);
  Samples at_once(distribution("gradient"));
  EXPECT_TRUE(std::ranges::equal(at_once.first(5000), little_by_little.first(5000)));
  EXPECT_EQ(10u, at_once.first(10).size());
}

TEST(Samples, AreNotDrawnBeyondTheMemory) {
  Samples samples(distribution("normal"));
  try {
    samples.first(this_machine().available_bytes / (2 * sizeof(float)));
    FAIL() << "expected an error";
  } catch (const Error& error) {
    EXPECT_EQ(Fault::system, error.fault());
  }
}

TEST(SampledError, StandsBesideThePapersFigure) {
  Samples samples(distribution("normal"));
  const SampledError error = measure_error(*make_codec("linear8:block=0"), samples, 1000);
  EXPECT_EQ(1000u, error.samples);
  EXPECT_EQ(1000u, error.accuracy.distortion.count());
  ASSERT_TRUE(error.published);
  EXPECT_EQ(6.47, error.published->relative_percent);
  EXPECT_FALSE(measure_error(*make_codec("linear8"), samples, 1000).published);
}

}  // namespace
}  // namespace narrowcast::bench::test
