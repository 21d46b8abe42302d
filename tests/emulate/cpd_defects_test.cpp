#include <gtest/gtest.h>

#include <cmath>

#include "emulate/gemm.hpp"
#include "emulate/nodes.hpp"
#include "tests/emulate/reference.hpp"
#include "tests/support/check.hpp"
#include "tests/support/inputs.hpp"
#include "tests/support/target_scope.hpp"

// What CPD, the first system of this kind, gets wrong. Dilation and groups of its convolutions are in
// tests/python.
namespace narrowcast::test {
namespace {

float cast(const char* spec, float x) {
  std::vector<float> in{x};
  std::vector<float> out(1);
  make_codec(spec)->quantize(in, out);
  EXPECT_TRUE(same_values(in, std::vector<float>{x})) << "the input was overwritten";
  return out[0];
}

class CpdDefects : public testing::TestWithParam<std::string> {
 private:
  TargetScope scope_{GetParam()};
};

TEST_P(CpdDefects, InputsAreLeftAlone) {
  const std::vector<float> x = normal(1000);
  const std::vector<float> before = x;
  std::vector<float> out(x.size());
  make_codec("float:e=5,m=2")->quantize(x, out);
  EXPECT_EQ(x, before);
  EXPECT_NE(x, out);
}

TEST_P(CpdDefects, OverflowIsFoundAfterRounding) {
  EXPECT_EQ(INFINITY, cast("float:e=5,m=2", 61440));
  EXPECT_EQ(-INFINITY, cast("float:e=5,m=2", -61440));
  EXPECT_EQ(57344.0f, cast("float:e=5,m=2", std::nextafter(61440.0f, 0.0f)));
  EXPECT_EQ(INFINITY, cast("float:e=4,m=3", 248));
  EXPECT_EQ(INFINITY, cast("float:e=8,m=7", std::nextafter(INFINITY, 0.0f)));
}

TEST_P(CpdDefects, SubnormalsKeepTheirStickyBit) {
  EXPECT_EQ(0x1p-16f, cast("float:e=5,m=2", 7.6293954e-06f));
  EXPECT_EQ(0.0f, cast("float:e=5,m=2", 0x1p-17f));
  EXPECT_EQ(0x1p-16f, cast("float:e=5,m=2", std::nextafter(0x1p-17f, 1.0f)));
}

TEST_P(CpdDefects, SubnormalsOfFloat32AreNotFlushed) {
  EXPECT_EQ(0x1p-133f, cast("float:e=8,m=7", 0x1p-133f));
  EXPECT_EQ(0x1p-149f, cast("float:e=8,m=23", 0x1p-149f));
  EXPECT_EQ(-0x1p-130f, cast("float:e=8,m=7", -0x1p-130f));
}

TEST_P(CpdDefects, AnAllZeroLayerStaysZeroUnderScaling) {
  const std::unique_ptr<Codec> codec = make_codec("float:e=5,m=2");
  const std::vector<float> zeros(100);
  const std::vector<Floats> nodes(4, zeros);
  std::vector<float> sum(zeros.size(), 1);
  Team team(1);
  EXPECT_EQ(0, sum_nodes(nodes, sum, {.codec = codec.get(), .scaling = Scaling::aps}, team));
  EXPECT_EQ(sum, zeros);
}

TEST_P(CpdDefects, RaggedTailsCompensateFromZero) {
  // Around the sizes of its tiles.
  for (const std::size_t rows : {1, 15, 17, 31}) {
    Problem each = problem(rows, 19, rows + 2);
    each.product = each.sum = "float:e=5,m=2";
    each.compensation = Compensation::kahan;
    EXPECT_TRUE(same_values(product_of(each), reference(each))) << rows;
  }
}

INSTANTIATE_TEST_SUITE_P(EveryTarget, CpdDefects, testing::ValuesIn(cpu_targets()),
                         [](const auto& target) { return target.param; });

}  // namespace
}  // namespace narrowcast::test
