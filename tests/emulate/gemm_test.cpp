#include "emulate/gemm.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/emulate/reference.hpp"
#include "tests/support/check.hpp"
#include "tests/support/fault_text.hpp"
#include "tests/support/inputs.hpp"
#include "tests/support/target_scope.hpp"

namespace narrowcast::test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr Compensation kBoth[] = {Compensation::none, Compensation::kahan};

// Every way to round that a kernel has, and every kind of format.
constexpr const char* kFormats[] = {
    "fp32",
    "bf16",
    "e4m3",
    "float:e=5,m=2",
    "float:e=5,m=2,overflow=saturate",
    "float:e=6,m=9",
    "float:e=8,m=10",
    "float:e=8,m=10,overflow=saturate",
    "float:e=8,m=22",
    "float:e=7,m=23",
    "float:e=3,m=0",
    "float:e=8,m=0",
    "float:e=2,m=1,kind=finite",
    "float:e=4,m=3,rounding=zero",
    "float:e=5,m=2,rounding=stochastic",
    "float:e=8,m=7,rounding=stochastic",
};

void expect_the_reference(const Problem& problem) {
  const std::vector<float> expected = reference(problem);
  for (const std::string& target : cpu_targets()) {
    const TargetScope scope(target);
    EXPECT_TRUE(same_values(product_of(problem), expected)) << target;
  }
}

TEST(Gemm, RoundsEveryProductAndEverySumOnEveryTarget) {
  for (const char* product : kFormats)
    for (const char* sum : kFormats)
      for (const Compensation compensation : kBoth) {
        SCOPED_TRACE(std::string(product) + " into " + sum +
                     (compensation == Compensation::kahan ? ", kahan" : ""));
        Problem each = problem(5, 33, 11);
        each.product = product;
        each.sum = sum;
        each.compensation = compensation;
        each.stream = {.key = 8, .salt = 9};
        expect_the_reference(each);
      }
}

TEST(Gemm, TakesAnySizes) {
  for (const std::size_t rows : {1, 3, 4, 5, 9})
    for (const std::size_t terms : {1, 7, 8, 17})
      for (const std::size_t columns : {1, 7, 8, 9, 23})
        for (const Compensation compensation : kBoth) {
          SCOPED_TRACE(testing::Message() << rows << " x " << terms << " x " << columns);
          Problem each = problem(rows, terms, columns);
          each.product = "float:e=5,m=2";
          each.sum = "float:e=6,m=5";
          each.compensation = compensation;
          expect_the_reference(each);
        }
}

// Dice of the bias must not be those of the next row's first term: as many terms as fill their places.
TEST(Gemm, AddsABiasAsItAddsAnyOtherTerm) {
  for (const char* sum : kFormats)
    for (const Compensation compensation : kBoth)
      for (const std::size_t terms : {0, 5, 8, 512}) {
        SCOPED_TRACE(testing::Message() << sum << ", " << terms << " terms");
        Problem each = problem(5, terms, 11);
        each.product = "float:e=5,m=2";
        each.sum = sum;
        each.compensation = compensation;
        each.stream = {.key = 8, .salt = 9};
        each.bias = normal(11, 5);
        expect_the_reference(each);
      }
}

TEST(Gemm, KeepsABiasThatIsNotFinite) {
  for (const char* sum : {"fp32", "float:e=5,m=2", "float:e=2,m=1,kind=finite"})
    for (const Compensation compensation : kBoth) {
      SCOPED_TRACE(sum);
      Problem each = problem(5, 21, 4);
      each.sum = sum;
      each.compensation = compensation;
      each.bias = {kInfinity, -kInfinity, std::bit_cast<float>(0x7fffffffu), -0.0f};
      expect_the_reference(each);
      EXPECT_EQ(0x7fc00000u, std::bit_cast<std::uint32_t>(product_of(each)[2]));
    }
}

// 1 + 2^-9 + 2^-8 in bfloat16: plain, both are lost; the bias alone would be half of a last place.
TEST(Gemm, CompensatesTheBiasToo) {
  Problem each{.rows = 1, .terms = 2, .columns = 1};
  each.a = {1, 0x1p-9f};
  each.b = {1, 1};
  each.product = each.sum = "bf16";
  each.bias = {0x1p-8f};
  EXPECT_EQ(1.0f, product_of(each)[0]);
  each.compensation = Compensation::kahan;
  EXPECT_EQ(1 + 0x1p-7f, product_of(each)[0]);
}

TEST(Gemm, OfNothingIsNothingAndOfNoTermsIsZero) {
  EXPECT_TRUE(product_of(problem(0, 4, 3)).empty());
  EXPECT_TRUE(product_of(problem(2, 4, 0)).empty());
  EXPECT_TRUE(same_values(product_of(problem(2, 0, 2)), std::vector<float>(4)));
}

TEST(Gemm, GivesTheSameBitsForAnyNumberOfThreads) {
  for (const char* sum : {"bf16", "float:e=8,m=7,rounding=stochastic"}) {
    Problem each = problem(37, 700, 51);
    each.product = "float:e=5,m=2,rounding=stochastic";
    each.sum = sum;
    each.compensation = Compensation::kahan;
    const std::vector<float> alone = product_of(each);
    for (const int threads : {2, 3, 7}) EXPECT_TRUE(same_values(product_of(each, threads), alone));
  }
}

TEST(Gemm, OfTransposedViewsIsThatOfTransposedValues) {
  const Problem p = problem(6, 13, 10);
  std::vector<float> a_columns(p.a.size());
  std::vector<float> b_columns(p.b.size());
  for (std::size_t i = 0; i < p.rows; ++i)
    for (std::size_t t = 0; t < p.terms; ++t) a_columns[t * p.rows + i] = p.a[i * p.terms + t];
  for (std::size_t t = 0; t < p.terms; ++t)
    for (std::size_t j = 0; j < p.columns; ++j) b_columns[j * p.terms + t] = p.b[t * p.columns + j];
  const std::unique_ptr<Codec> format = make_codec("float:e=5,m=2");
  std::vector<float> c(p.rows * p.columns);
  Team team(1);
  gemm(transposed(row_major(a_columns, p.terms, p.rows)),
       transposed(row_major(b_columns, p.columns, p.terms)), c,
       {.product = format.get(), .sum = format.get()}, team);
  Problem straight = p;
  straight.product = straight.sum = "float:e=5,m=2";
  EXPECT_TRUE(same_values(c, product_of(straight)));
}

TEST(Gemm, TakesValuesOfAnySize) {
  for (const Input& input : finite_inputs(6 * 40)) {
    SCOPED_TRACE(input.name);
    Problem each = problem(6, 40, 9);
    each.a = input.values;
    each.product = "float:e=5,m=10";
    for (const char* sum : {"bf16", "float:e=6,m=3", "fp32"}) {
      each.sum = sum;
      expect_the_reference(each);
    }
  }
}

// The extremes of what kernels take for granted where no product overflows.
TEST(Gemm, TakesProductsFromTheSmallestToTheLargestOfTheirFormat) {
  for (const char* product : {"float:e=7,m=2", "float:e=7,m=22", "float:e=7,m=21", "float:e=2,m=1"})
    for (const char* sum : {"float:e=8,m=1", "float:e=8,m=7", "float:e=8,m=21", "float:e=8,m=22"})
      for (const float scale : {0x1p61f, 0x1p-61f, 0x1p-83f, 0x1p-1f})
        for (const Compensation compensation : kBoth) {
          SCOPED_TRACE(testing::Message() << product << " into " << sum << ", " << scale);
          Problem each = problem(5, 90, 9);
          for (std::size_t i = 0; i < each.a.size(); ++i)
            each.a[i] *= i % 7 == 0 ? scale : scale * 0x1p-6f;
          for (float& b : each.b) b = b < 0 ? -1.0f : 1.25f;
          each.product = product;
          each.sum = sum;
          each.compensation = compensation;
          expect_the_reference(each);
        }
}

TEST(Gemm, LeavesNoNegativeZero) {
  Problem each = problem(1, 2, 1);
  each.a = {-1e-30f, -1e-30f};
  each.b = {1, 1};
  for (const char* format : {"fp32", "bf16", "float:e=5,m=2", "float:e=5,m=2,rounding=zero"}) {
    each.product = "fp32";
    each.sum = format;
    const float c = product_of(each)[0];
    EXPECT_TRUE(c < 0 || !std::signbit(c)) << format;
  }
}

TEST(Gemm, KeepsWhatIsNotFinite) {
  for (const char* sum : {"fp32", "bf16", "float:e=5,m=2", "float:e=3,m=0", "float:e=8,m=0",
                          "float:e=2,m=1,kind=finite"})
    for (const Compensation compensation : kBoth) {
      SCOPED_TRACE(sum);
      Problem each = problem(5, 21, 9);
      each.a = with_specials(each.a);
      each.b = with_specials(each.b);
      each.b[1] = std::bit_cast<float>(0x7fffffffu);  // would carry into something else
      each.a[1] = std::bit_cast<float>(0xffffffffu);
      each.product = "bf16";
      each.sum = sum;
      each.compensation = compensation;
      expect_the_reference(each);
    }
}

TEST(Gemm, LeavesPlainNansOnly) {
  Problem each = problem(1, 2, 1);
  each.a = {kInfinity, -std::bit_cast<float>(0x7f812345u)};
  each.b = {0, 1};
  for (const std::string& target : cpu_targets()) {
    const TargetScope scope(target);
    EXPECT_EQ(0x7fc00000u, std::bit_cast<std::uint32_t>(product_of(each)[0])) << target;
  }
}

// 1 + 2^-9 + 2^-9 + ...: a plain sum in bfloat16 never leaves 1.
TEST(Gemm, KeepsSmallTermsWithCompensation) {
  constexpr std::size_t kTerms = 257;
  Problem each{.rows = 1, .terms = kTerms, .columns = 1};
  each.a.assign(kTerms, 0x1p-9f);
  each.a[0] = 1;
  each.b.assign(kTerms, 1);
  each.product = each.sum = "bf16";
  EXPECT_EQ(1.0f, product_of(each)[0]);
  each.compensation = Compensation::kahan;
  EXPECT_EQ(1.5f, product_of(each)[0]);
}

TEST(Gemm, LeavesOverflowInfiniteWithCompensation) {
  Problem each{.rows = 1, .terms = 6, .columns = 1};
  each.a.assign(6, 40000);
  each.b.assign(6, 1);
  each.product = "fp32";
  each.sum = "float:e=5,m=2";
  each.compensation = Compensation::kahan;
  EXPECT_EQ(kInfinity, product_of(each)[0]);
  each.sum = "float:e=5,m=2,overflow=saturate";
  EXPECT_EQ(57344.0f, product_of(each)[0]);
}

TEST(Gemm, IsRightOnAverageWithDice) {
  Problem each{.rows = 1, .terms = 1, .columns = 4096};
  each.a = {1};
  each.b.assign(4096, 1.1f);
  each.product = "float:e=5,m=2,rounding=stochastic";
  const auto mean = [&] {
    double total = 0;
    for (const float x : product_of(each)) total += static_cast<double>(x);
    return total / 4096;
  };
  each.stream = stream_of({.seed = 3});
  const std::vector<float> first = product_of(each);
  EXPECT_EQ(first, product_of(each));
  EXPECT_NEAR(1.1, mean(), 5 * 0.25 * std::sqrt(0.4 * 0.6 / 4096));
  each.stream = stream_of({.seed = 4});
  EXPECT_NE(first, product_of(each));
}

TEST(Gemm, RefusesWhatHasNoProduct) {
  const std::unique_ptr<Codec> fp32 = make_codec("fp32");
  const std::unique_ptr<Codec> mx = make_codec("mxfp8");
  const std::vector<float> x(12);
  std::vector<float> c(4);
  Team team(1);
  const auto call = [&](const Matrix& a, const Matrix& b, const Codec* sum) {
    return fault_text([&] { gemm(a, b, c, {.product = fp32.get(), .sum = sum}, team); });
  };
  EXPECT_EQ("usage: gemm: 2 x 6 and 4 x 2 matrices have no product",
            call(row_major(x, 2, 6), row_major(x, 4, 2), fp32.get()));
  EXPECT_EQ("usage: gemm: the product needs rows(a) * columns(b) values",
            call(row_major(x, 3, 4), row_major(x, 4, 3), fp32.get()));
  EXPECT_EQ("usage: gemm: a matrix is larger than its values",
            call(row_major(x, 2, 7), row_major(x, 7, 2), fp32.get()));
  EXPECT_EQ("usage: gemm: a matrix is larger than its values",
            call({x, 2, 3, SIZE_MAX, 1}, row_major(x, 3, 2), fp32.get()));
  EXPECT_EQ("usage: gemm: the bias needs columns(b) values", fault_text([&] {
              gemm(row_major(x, 2, 3), row_major(x, 3, 2), c,
                   {.product = fp32.get(), .sum = fp32.get(), .bias = Floats(x).first(3)}, team);
            }));
  EXPECT_EQ("usage: gemm: no format for sums",
            call(row_major(x, 2, 3), row_major(x, 3, 2), nullptr));
  EXPECT_EQ(
      "usage: gemm rounds sums value by value to a float format (float, e4m3, e5m2, fp16, bf16, "
      "fp32), which mxfp8:element=e4m3,scale=floor does not",
      call(row_major(x, 2, 3), row_major(x, 3, 2), mx.get()));
}

}  // namespace
}  // namespace narrowcast::test
