// Quicker steps that do not pay, and slower ones that might.
#include <gmock/gmock.h>

#include "tests/study/made_records.hpp"

namespace narrowcast::test {
namespace {

TEST(ATimeToError, IsNotCertainByEpochsThatDoNotScatter) {
  Records records;
  for (int seed = 1; seed <= 2; ++seed) {
    records.push_back(trained("fp32", seed, {3, 2.5, 2}));
    records.push_back(trained("early", seed, {3, 2, 2}));
    records.push_back(trained("quick", seed, {3, 2.5, 2}));
  }
  add_timed(records, "fp32", {20, 20.1, 19.9});
  add_timed(records, "early", {20, 20.1, 19.9});
  add_timed(records, "quick", {10, 10.1, 9.9});
  const Analysis found = analyse(records, study_with(0.2));
  const Contrast& early = time_of(found, "speed", "early").gain.value();
  EXPECT_NEAR(early.effect.mean, 1.5, 1e-12);
  EXPECT_EQ(early.judgement, Judgement::too_little);
  EXPECT_FALSE(early.effect.low);
  EXPECT_FALSE(early.p);
  // Steps that scatter decide here.
  EXPECT_EQ(time_of(found, "speed", "quick").gain->judgement, Judgement::better);
}

}  // namespace
}  // namespace narrowcast::test
