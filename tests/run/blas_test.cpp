#include "run/blas.hpp"

#include <gmock/gmock.h>

namespace narrowcast::test {
namespace {

TEST(OpenBlas, ThatDoesNotKnowTheCpuIsToldItsInstructions) {
  EXPECT_EQ(better_kernels("Prescott", Instructions::avx512), "SkylakeX");
  EXPECT_EQ(better_kernels("Prescott", Instructions::avx2), "Haswell");
  EXPECT_EQ(better_kernels("Sandybridge", Instructions::avx2), "Haswell");
}

TEST(OpenBlas, ThatKnowsTheCpuIsLeftAlone) {
  EXPECT_EQ(better_kernels("Zen", Instructions::avx2), "");
  EXPECT_EQ(better_kernels("SkylakeX", Instructions::avx512), "");
  EXPECT_EQ(better_kernels("Sapphirerapids", Instructions::avx512), "");
  // AVX-512 is not worth as much on every CPU: its own choice stands.
  EXPECT_EQ(better_kernels("Zen", Instructions::avx512), "");
}

TEST(OpenBlas, IsLeftAloneWhereNothingBetterIsThere) {
  EXPECT_EQ(better_kernels("Prescott", Instructions::below_avx2), "");
  EXPECT_EQ(better_kernels("", Instructions::avx512), "");
}

}  // namespace
}  // namespace narrowcast::test
