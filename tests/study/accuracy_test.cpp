// What is said of errors, where the truth is known.
#include <gmock/gmock.h>

#include <limits>

#include "tests/study/made_records.hpp"

namespace narrowcast::test {
namespace {

using testing::ElementsAre;

const std::vector<double> kPlain{1.24, 1.31, 1.19, 1.27, 1.30};

std::vector<double> shifted(std::vector<double> errors, std::vector<double> by) {
  for (std::size_t i = 0; i < errors.size(); ++i) errors[i] += by[i];
  return errors;
}

Judgement judged(const Records& records, std::string_view codec, double tolerance) {
  const Analysis found = analyse(records, study_with(tolerance));
  return accuracy_of(found, codec).last_contrast.value().judgement;
}

TEST(Groups, HoldRecordsThatDifferInTheirSeeds) {
  Records records;
  add_trained(records, "fp32", kPlain);
  add_trained(records, "dynamic8", {1.2, 1.3});
  records[1].others = 0.5;
  records[2].state = CellState::failed;
  const Analysis found = analyse(records, study_with(0));
  ASSERT_EQ(found.groups.size(), 2);
  const CellGroup& plain = found.groups.front();
  EXPECT_EQ(plain.at("codec"), "fp32");
  EXPECT_EQ(plain.at("seed"), "");
  EXPECT_EQ(plain.done.size(), 4);
  EXPECT_EQ(plain.quiet.size(), 3);
  EXPECT_EQ(plain.busy(), 1);
  EXPECT_EQ(plain.failed, 1);
}

TEST(Groups, TakeOneRecordOfEachCell) {
  CellRecord failed = trained("fp32", 1, {9});
  failed.state = CellState::failed;
  const Records records{failed, trained("fp32", 1, {2}), trained("fp32", 1, {3}), failed};
  const Analysis found = analyse(records, study_with(0));
  ASSERT_EQ(found.groups.size(), 1);
  EXPECT_EQ(found.groups.front().failed, 0);
  EXPECT_THAT(found.groups.front().done, ElementsAre(&records[2]));
}

TEST(Groups, AreApartWhenASettingDiffers) {
  Records records{trained("fp32", 1, {2}), trained("fp32", 2, {2})};
  records[1].cell.settings["optimiser.rate"] = "0.1";
  EXPECT_EQ(analyse(records, study_with(0)).groups.size(), 2);
}

TEST(AnAccuracy, IsTheMeanOverSeedsWithItsDifferenceInPairs) {
  Records records;
  add_trained(records, "fp32", kPlain);
  add_trained(records, "dynamic8", {1.26, 1.29, 1.25, 1.33, 1.28});
  const Analysis found = analyse(records, study_with(0.1));
  const Accuracy& own = accuracy_of(found, "dynamic8");
  EXPECT_DOUBLE_EQ(own.last.mean, 1.282);
  EXPECT_EQ(own.baseline, accuracy_of(found, "fp32").group);
  EXPECT_FALSE(accuracy_of(found, "fp32").last_contrast);
  // ttest_rel of scipy, see statistics_test.cpp
  EXPECT_NEAR(own.last_contrast->p.value(), 0.3261642353450602, 1e-12);
  EXPECT_NEAR(own.last_contrast->effect.low.value(), -0.029666559928150593, 1e-12);
  EXPECT_EQ(own.last_contrast->holm, own.last_contrast->p);
}

TEST(AnAccuracy, IsTheSameOnlyInsideTheTolerance) {
  Records records;
  add_trained(records, "fp32", kPlain);
  add_trained(records, "dynamic8", {1.26, 1.29, 1.25, 1.33, 1.28});
  // The interval reaches from -0.03 to 0.07.
  EXPECT_EQ(judged(records, "dynamic8", 0.1), Judgement::same);
  EXPECT_EQ(judged(records, "dynamic8", 0.05), Judgement::unclear);
  EXPECT_EQ(judged(records, "dynamic8", 0), Judgement::unclear);
}

TEST(AnAccuracy, IsTheSameWithoutToleranceWhenWeightsAreEqual) {
  Records records;
  add_trained(records, "fp32", {1.2, 1.3});
  add_trained(records, "lossless", {1.2, 1.3});
  // Equal errors may be luck.
  EXPECT_EQ(judged(records, "lossless", 0.5), Judgement::too_little);
  for (CellRecord& record : records)
    record.replica_hash = "hash of " + std::string(record.cell.at("seed"));
  EXPECT_EQ(judged(records, "lossless", 0), Judgement::same);
  records.back().replica_hash = "another";
  EXPECT_EQ(judged(records, "lossless", 0.5), Judgement::too_little);
}

// What has no partner may have ended anywhere.
TEST(AnAccuracy, IsNotTheSameByAFewPairsOfEqualWeights) {
  Records records;
  add_trained(records, "fp32", {2.0, 2.1, 2.2, 1.9});
  add_trained(records, "crude", {2.0, 2.1, 9.0, 9.3});
  for (std::size_t i = 6; i < records.size(); ++i) records[i].cell.axes["seed"] += "0";
  for (CellRecord& record : records)
    record.replica_hash = "hash of " + std::string(record.cell.at("seed"));
  EXPECT_EQ(judged(records, "crude", 0.2), Judgement::too_little);
  std::erase_if(records, [](const CellRecord& record) { return record.cell.at("seed") > "2"; });
  EXPECT_EQ(judged(records, "crude", 0.2), Judgement::same);
  // Nor by a seed that the baseline alone has.
  records.push_back(trained("fp32", 3, {1.5}));
  EXPECT_EQ(judged(records, "crude", 0.2), Judgement::too_little);
}

// Split weights are in no hash: those of model parallelism are all equal, whatever was learnt.
TEST(AnAccuracy, IsNotTheSameByHashesOfSplitWeights) {
  for (const char* parallel : {"model", "hybrid"}) {
    Records records;
    add_trained(records, "fp32", {1.2, 1.3, 1.25});
    add_trained(records, "hopeless", {63.1, 62.4, 64.0});
    for (CellRecord& record : records) {
      record.cell.axes["parallel"] = parallel;
      record.replica_hash = "0000000000000000";
    }
    EXPECT_EQ(judged(records, "hopeless", 0.2), Judgement::worse) << parallel;
  }
}

TEST(AnAccuracy, IsWorseOrBetterWhenThePairsSaySo) {
  Records records;
  add_trained(records, "fp32", kPlain);
  add_trained(records, "crude", shifted(kPlain, {0.51, 0.49, 0.50, 0.52, 0.48}));
  add_trained(records, "lucky", shifted(kPlain, {-0.51, -0.49, -0.50, -0.52, -0.48}));
  EXPECT_EQ(judged(records, "crude", 0.1), Judgement::worse);
  EXPECT_EQ(judged(records, "lucky", 0.1), Judgement::better);
  EXPECT_EQ(judged(records, "crude", 1), Judgement::same);
}

TEST(AnAccuracy, OfOnePairOrNoneIsTooLittle) {
  Records records;
  add_trained(records, "fp32", {1.2});
  add_trained(records, "dynamic8", {1.2, 1.3, 1.25});
  EXPECT_EQ(judged(records, "dynamic8", 0.5), Judgement::too_little);
  for (CellRecord& record : records)
    if (record.cell.at("codec") == "fp32") record.state = CellState::failed;
  EXPECT_EQ(judged(records, "dynamic8", 0.5), Judgement::too_little);
}

TEST(AnAccuracy, OfEqualDifferencesIsTooLittle) {
  Records records;
  add_trained(records, "fp32", {1.2, 1.3});
  add_trained(records, "dynamic8", {1.25, 1.35});
  EXPECT_EQ(judged(records, "dynamic8", 0.01), Judgement::too_little);
}

TEST(AnAccuracy, IsNotTheSameWhenASeedLeftNoError) {
  Records records;
  add_trained(records, "fp32", kPlain);
  add_trained(records, "dynamic8", {1.26, 1.29, 1.25, 1.33, 1.28});
  records.back().values["last_error"] = std::numeric_limits<double>::quiet_NaN();
  const Analysis found = analyse(records, study_with(0.5));
  EXPECT_EQ(accuracy_of(found, "dynamic8").unknown, 1);
  EXPECT_EQ(accuracy_of(found, "dynamic8").last_contrast->effect.count, 4);
  EXPECT_EQ(accuracy_of(found, "dynamic8").last_contrast->judgement, Judgement::too_little);
}

TEST(AnAccuracy, IsNotTheSameWhenASeedFailed) {
  Records records;
  add_trained(records, "fp32", kPlain);
  add_trained(records, "dynamic8", {1.26, 1.29, 1.25, 1.33, 1.28});
  add_trained(records, "crude", shifted(kPlain, {0.51, 0.49, 0.50, 0.52, 0.48}));
  add_trained(records, "lucky", shifted(kPlain, {-0.51, -0.49, -0.50, -0.52, -0.48}));
  for (CellRecord& record : records)
    if (record.cell.at("seed") == "5" && record.cell.at("codec") != "fp32")
      record.state = CellState::failed;
  EXPECT_EQ(accuracy_of(analyse(records, study_with(0.1)), "dynamic8").failed, 1);
  EXPECT_EQ(judged(records, "dynamic8", 0.2), Judgement::too_little);
  EXPECT_EQ(judged(records, "lucky", 0.1), Judgement::too_little);
  // What the other seeds show stays shown.
  EXPECT_EQ(judged(records, "crude", 0.1), Judgement::worse);
}

TEST(AnAccuracy, IsNotTheSameAsABaselineThatFailed) {
  Records records;
  add_trained(records, "fp32", kPlain);
  add_trained(records, "dynamic8", {1.26, 1.29, 1.25, 1.33, 1.28});
  add_trained(records, "crude", shifted(kPlain, {0.51, 0.49, 0.50, 0.52, 0.48}));
  add_trained(records, "lucky", shifted(kPlain, {-0.51, -0.49, -0.50, -0.52, -0.48}));
  records[4].state = CellState::failed;
  EXPECT_EQ(judged(records, "dynamic8", 0.2), Judgement::too_little);
  EXPECT_EQ(judged(records, "crude", 0.1), Judgement::too_little);
  EXPECT_EQ(judged(records, "lucky", 0.1), Judgement::better);
}

TEST(AnAccuracy, CountsBusyRecords) {
  Records records;
  add_trained(records, "fp32", kPlain);
  for (CellRecord& record : records) record.others = 1;
  EXPECT_EQ(accuracy_of(analyse(records, study_with(0)), "fp32").last.count, 5);
}

TEST(AnAccuracy, IsCorrectedForAllComparisons) {
  Records records;
  add_trained(records, "fp32", kPlain);
  // p = 0.0074 alone, ten times that among ten.
  const std::vector<double> by{0.03, 0.09, 0.05, 0.08, 0.04};
  add_trained(records, "doubtful", shifted(kPlain, by));
  EXPECT_EQ(judged(records, "doubtful", 0), Judgement::worse);
  for (int i = 0; i < 9; ++i)
    add_trained(records, "other" + std::to_string(i),
                shifted(kPlain, {0.01 * i, -0.02, 0.03, 0.01, -0.04}));
  EXPECT_EQ(judged(records, "doubtful", 0), Judgement::unclear);
}

TEST(AnAccuracy, HasNoContrastWithoutABaseline) {
  Records records;
  add_trained(records, "dynamic8", kPlain);
  const Analysis found = analyse(records, study_with(0.1));
  EXPECT_FALSE(accuracy_of(found, "dynamic8").baseline);
  EXPECT_FALSE(accuracy_of(found, "dynamic8").last_contrast);
}

TEST(ABaseline, IsOfTheSameSurroundings) {
  Records records;
  add_trained(records, "fp32", kPlain);
  add_trained(records, "dynamic8", kPlain);
  for (std::size_t i = 5; i < records.size(); ++i) records[i].cell.axes["workers"] = "4";
  EXPECT_FALSE(accuracy_of(analyse(records, study_with(0)), "dynamic8").baseline);
}

TEST(ABaseline, IsOfTheSamePlanOrOfNone) {
  Records records;
  add_trained(records, "fp32", {1});
  add_trained(records, "fp32", {1});
  records[1].cell.axes["plan"] = "fused";
  add_trained(records, "dynamic8", {1});
  records[2].cell.axes["plan"] = "fused";
  add_trained(records, "static8", {1});
  records[3].cell.axes["plan"] = "late";
  const Analysis found = analyse(records, study_with(0));
  EXPECT_EQ(accuracy_of(found, "dynamic8 (fused)").baseline,
            accuracy_of(found, "fp32 (fused)").group);
  EXPECT_EQ(accuracy_of(found, "static8 (late)").baseline, accuracy_of(found, "fp32").group);
}

TEST(ABaseline, DoesNotAskWhatNamesStandFor) {
  Records records;
  add_trained(records, "fp32", {1});
  add_trained(records, "careful", {1});
  records[1].cell.settings = {{"codec", "onebit"}, {"feedback", "on"}, {"scaling", "aps"}};
  EXPECT_TRUE(accuracy_of(analyse(records, study_with(0)), "careful").baseline);
  records[1].cell.settings["optimiser.rate"] = "0.1";
  EXPECT_FALSE(accuracy_of(analyse(records, study_with(0)), "careful").baseline);
}

TEST(ABaseline, IsNoPlanWithRules) {
  Records records;
  add_trained(records, "fp32", {1});
  add_trained(records, "fp32", {1});
  records[1].cell.axes["plan"] = "hybrid";
  records[1].cell.settings = {{"plan.rule", "[...]"}};
  const Analysis found = analyse(records, study_with(0));
  EXPECT_EQ(accuracy_of(found, "hybrid").baseline, accuracy_of(found, "fp32").group);
}

TEST(AnAnova, IsOverAllCodecsAndOverThoseOfD16) {
  Records records;
  add_trained(records, "fp32", {6, 8, 4, 5, 3, 4});
  add_trained(records, "dynamic8", {8, 12, 9, 11, 6, 8});
  add_trained(records, "static8", {13, 9, 11, 8, 7, 12});
  // f_oneway of scipy: 9.264705882352942, p 0.0023987773293929083
  const Analysis three = analyse(records, study_with(0));
  ASSERT_EQ(three.anova.size(), 1);
  EXPECT_NEAR(three.anova[0].last->f, 9.264705882352942, 1e-12);
  EXPECT_NEAR(three.anova[0].best->p, 0.0023987773293929083, 1e-14);
  EXPECT_EQ(three.anova[0].last->within, 15);

  add_trained(records, "onebit", {20, 21, 22, 23, 24, 25});
  const Analysis four = analyse(records, study_with(0));
  ASSERT_EQ(four.anova.size(), 2);
  EXPECT_THAT(four.anova[0].codecs, ElementsAre("fp32", "dynamic8", "static8", "onebit"));
  EXPECT_THAT(four.anova[1].codecs, ElementsAre("fp32", "dynamic8", "static8"));
  EXPECT_NEAR(four.anova[1].last->f, 9.264705882352942, 1e-12);
  EXPECT_EQ(four.anova[1].surroundings.at("codec"), "");
}

TEST(AnAccuracy, SaysHowManyPairsAreOfDifferentProcessors) {
  Records records;
  add_trained(records, "fp32", {1, 2, 3});
  add_trained(records, "dynamic8", {1.1, 2.2, 3.1});
  records[4].machine.cpu = "other";
  EXPECT_EQ(accuracy_of(analyse(records, study_with(0)), "dynamic8").across, 1);
  EXPECT_EQ(accuracy_of(analyse(records, study_with(0)), "fp32").across, 0);
}

}  // namespace
}  // namespace narrowcast::test
