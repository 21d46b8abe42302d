#include "bench/yardstick.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>

#include "bench/aligned.hpp"

namespace narrowcast::bench::test {
namespace {

TEST(Aligned, BuffersStartAtCacheLines) {
  for (const std::size_t size : {1u, 3u, 1000u, 100'000u}) {
    const AlignedFloats floats(size);
    const AlignedBytes bytes(size);
    EXPECT_EQ(0u, reinterpret_cast<std::uintptr_t>(floats.data()) % kAlignment);
    EXPECT_EQ(0u, reinterpret_cast<std::uintptr_t>(bytes.data()) % kAlignment);
  }
}

TEST(YardstickThreads, CopyEverythingTogether) {
  for (const int threads : {1, 2, 3}) {
    Team team(threads);
    for (const std::size_t size : {0u, 1u, 15u, 16u, 17u, 47u, 1000u, 4096u}) {
      AlignedFloats from(size);
      std::iota(from.begin(), from.end(), 1.0f);
      AlignedFloats to(size);
      copy_by_memcpy(from, to, team);
      EXPECT_EQ(from, to) << "memcpy, " << size << " values, " << threads << " threads";
      to.assign(size, 0);
      copy_by_loop(from, to, team);
      EXPECT_EQ(from, to) << "loop, " << size << " values, " << threads << " threads";
    }
  }
}

TEST(Yardstick, IsTheBetterOfItsTwoCopies) {
  const CopyTime time{.memcpy_ns = 2, .loop_ns = 0.5};
  EXPECT_EQ(0.5, time.best_ns());
  EXPECT_EQ(16, time.gigabytes_per_second());  // eight bytes in half a nanosecond
}

TEST(Yardstick, TakesSomeTime) {
  Team alone(1);
  const CopyTime time = measure_copy(1000, alone, 0);
  EXPECT_GT(time.memcpy_ns, 0);
  EXPECT_GT(time.loop_ns, 0);
}

}  // namespace
}  // namespace narrowcast::bench::test
