// Against values that scipy 1.17 and statsmodels 0.15 give, and against published ones. The lines of Python
// beside them made them.
#include "study/statistics.hpp"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/check.hpp"

namespace narrowcast::test {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

using Values = std::vector<double>;

const Values kFive{1.24, 1.31, 1.19, 1.27, 1.30};
const Values kOtherFive{1.26, 1.29, 1.25, 1.33, 1.28};

void expect_interval(const Estimate& estimate, double low, double high) {
  ASSERT_TRUE(estimate.low && estimate.high);
  EXPECT_NEAR(*estimate.low, low, 1e-12 * std::abs(low));
  EXPECT_NEAR(*estimate.high, high, 1e-12 * std::abs(high));
}

TEST(Statistics, EstimateAsScipyDoes) {
  // ttest_1samp(a, 0).confidence_interval(.95)
  const Estimate found = estimate(kFive);
  EXPECT_DOUBLE_EQ(found.mean, 1.262);
  EXPECT_EQ(found.count, 5);
  expect_interval(found, 1.201552511399465, 1.322447488600535);
}

TEST(Statistics, ComparePairsAsScipyDoes) {
  // ttest_rel(a, b)
  const MeanDifference found = paired_difference(kFive, kOtherFive);
  EXPECT_NEAR(found.difference.mean, -0.02, 1e-15);
  EXPECT_NEAR(found.p.value(), 0.3261642353450602, 1e-12);
  expect_interval(found.difference, -0.06966655992815063, 0.029666559928150593);
}

TEST(Statistics, CompareSamplesAsWelchDid) {
  // ttest_ind(a, b, equal_var=False); a textbook's example, there with t = 1.959, 7.03 degrees, p = .09077
  const MeanDifference found = difference(Values{30.02, 29.99, 30.11, 29.97, 30.01, 29.99},
                                          Values{29.89, 29.93, 29.72, 29.98, 30.02, 29.98});
  EXPECT_NEAR(found.p.value(), 0.09077332428566112, 1e-11);
  EXPECT_NEAR(found.difference.low.value(), -0.01956908964604008, 1e-11);
  EXPECT_NEAR(found.difference.high.value(), 0.20956908964604493, 1e-11);

  const MeanDifference uneven =
      difference(Values{10.1, 12.3}, Values{9.0, 9.1, 9.4, 8.8, 9.9, 9.3, 9.2});
  EXPECT_NEAR(uneven.p.value(), 0.3226038871423188, 1e-12);
  expect_interval(uneven.difference, -11.211502133727116, 15.125787848012827);
  EXPECT_EQ(uneven.difference.count, 2);
}

TEST(Statistics, AnalyseVarianceAsPublished) {
  // NIST, Statistical Reference Datasets, SiRstv: certified F 1.18046237440255, 4 and 20 degrees of freedom.
  const std::vector<Values> silicon{{196.3052, 196.1240, 196.1890, 196.2569, 196.3403},
                                    {196.3042, 196.3825, 196.1669, 196.3257, 196.0422},
                                    {196.1303, 196.2005, 196.2889, 196.0343, 196.1811},
                                    {196.2795, 196.1748, 196.1494, 196.1485, 195.9885},
                                    {196.2119, 196.1051, 196.1850, 196.0052, 196.2090}};
  const Variance found = analyse_variance(silicon).value();
  EXPECT_NEAR(found.f, 1.18046237440255, 1e-9);
  EXPECT_EQ(found.between, 4);
  EXPECT_EQ(found.within, 20);
}

TEST(Statistics, AnalyseVarianceAsScipyDoes) {
  // f_oneway on shells of mussels from five places (the example of its documentation: F 7.121, p .00028)
  const std::vector<Values> mussels{
      {.0571, .0813, .0831, .0976, .0817, .0859, .0735, .0659, .0923, .0836},
      {.0873, .0662, .0672, .0819, .0749, .0649, .0835, .0725},
      {.0974, .1352, .0817, .1016, .0968, .1064, .105},
      {.1033, .0915, .0781, .0685, .0677, .0697, .0764, .0689},
      {.0703, .1026, .0956, .0973, .1039, .1045}};
  const Variance found = analyse_variance(mussels).value();
  EXPECT_NEAR(found.f, 7.121019471642449, 1e-11);
  EXPECT_NEAR(found.p, 0.00028122423145345433, 1e-15);

  // A group of one value counts: f_oneway([1, 2, 4], [3], [2, 6]); an empty one does not.
  const Variance single = analyse_variance(std::vector<Values>{{1, 2, 4}, {3}, {}, {2, 6}}).value();
  EXPECT_NEAR(single.f, 0.3947368421052631, 1e-14);
  EXPECT_NEAR(single.p, 0.7043905791270657, 1e-14);
}

TEST(Statistics, CorrectAsHolmDid) {
  // By hand: 4 * .005; 3 * .01; 2 * .03; .04, which may not come before .06
  EXPECT_THAT(holm(Values{.01, .04, .03, .005}),
              ElementsAre(DoubleNear(.03, 1e-15), DoubleNear(.06, 1e-15), DoubleNear(.06, 1e-15),
                          DoubleNear(.02, 1e-15)));
  // multipletests(p, method='holm')[1]
  EXPECT_THAT(holm(Values{.0001, .04, .03, .03, .9, .005}),
              ElementsAre(DoubleNear(.0006, 1e-15), DoubleNear(.12, 1e-15), DoubleNear(.12, 1e-15),
                          DoubleNear(.12, 1e-15), DoubleNear(.9, 1e-15), DoubleNear(.025, 1e-15)));
  EXPECT_THAT(holm(Values{.5, .6}), ElementsAre(1, 1));
  EXPECT_THAT(holm(Values{}), ElementsAre());
}

RC_GTEST_PROP(Statistics, HolmRaisesEveryPAndKeepsTheirOrder, ()) {
  const auto thousandths =
      *rc::gen::nonEmpty(rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 1001)));
  Values p;
  for (const int each : thousandths) p.push_back(each / 1000.0);
  const Values corrected = holm(p);
  for (std::size_t i = 0; i < p.size(); ++i) {
    RC_ASSERT(corrected[i] >= p[i]);
    RC_ASSERT(corrected[i] <= 1);
    for (std::size_t j = 0; j < p.size(); ++j)
      if (p[i] <= p[j]) RC_ASSERT(corrected[i] <= corrected[j]);
  }
}

TEST(Statistics, OfTooFewValuesHaveNoInterval) {
  EXPECT_EQ(estimate(Values{}).count, 0);
  EXPECT_FALSE(estimate(Values{}).low);
  EXPECT_EQ(estimate(Values{3}).mean, 3);
  EXPECT_FALSE(estimate(Values{3}).low);
  EXPECT_FALSE(paired_difference(Values{}, Values{}).p);
  EXPECT_FALSE(paired_difference(Values{3}, Values{2}).p);
  EXPECT_EQ(paired_difference(Values{3}, Values{2}).difference.mean, 1);
  EXPECT_FALSE(difference(Values{1, 2, 3}, Values{2}).p);
  EXPECT_EQ(difference(Values{1, 2, 3}, Values{5}).difference.mean, -3);
  EXPECT_EQ(difference(Values{1, 2, 3}, Values{}).difference.count, 0);
  EXPECT_FALSE(analyse_variance(std::vector<Values>{{1, 2, 3}, {2}}));
  EXPECT_FALSE(analyse_variance({}));
}

TEST(Statistics, OfEqualValuesAreExact) {
  const Estimate same = estimate(Values{0.1, 0.1, 0.1});
  EXPECT_EQ(same.mean, 0.1);
  EXPECT_EQ(same.low, 0.1);
  EXPECT_EQ(same.high, 0.1);
  EXPECT_EQ(paired_difference(kFive, kFive).p, 1);
  EXPECT_EQ(paired_difference(Values{2, 3}, Values{1, 2}).p, 0);
  EXPECT_EQ(difference(Values{2, 2}, Values{2, 2, 2}).p, 1);
  EXPECT_EQ(difference(Values{2, 2}, Values{1, 1}).p, 0);
  EXPECT_FALSE(analyse_variance(std::vector<Values>{{1, 1}, {2, 2}}));
}

TEST(Statistics, RefuseWhatIsNoNumber) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(fault_of([&] { estimate(Values{1, nan}); }), Fault::usage);
  EXPECT_EQ(fault_of([&] { estimate(Values{infinity}); }), Fault::usage);
  EXPECT_EQ(fault_of([&] { paired_difference(Values{1, 2}, Values{1, nan}); }), Fault::usage);
  EXPECT_EQ(fault_of([&] { paired_difference(Values{1, 2}, Values{1}); }), Fault::usage);
  EXPECT_EQ(fault_of([&] { difference(Values{nan, 2}, Values{1, 2}); }), Fault::usage);
  EXPECT_EQ(fault_of([&] {
              analyse_variance(std::vector<Values>{{1, 2}, {1, nan}});
            }),
            Fault::usage);
  EXPECT_EQ(fault_of([&] { holm(Values{.1, nan}); }), Fault::usage);
  EXPECT_EQ(fault_of([&] { holm(Values{1.1}); }), Fault::usage);
  EXPECT_EQ(fault_of([&] { median({}); }), Fault::usage);
}

TEST(Statistics, HaveTheMiddleOfValues) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 2, 3}), 2.5);
}

}  // namespace
}  // namespace narrowcast::test
