// Quicker steps that do not pay, and slower ones that might.
#include <gmock/gmock.h>

#include "study/report.hpp"
#include "tests/study/made_records.hpp"

namespace narrowcast::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Comes to its error of 2 in this epoch, or the one after it, as `seed` has it; ends as accurate whatever it is.
void add_run(Records& records, const std::string& codec, int seed, int epoch) {
  std::vector<double> errors(20, 2.0 + 0.01 * (seed * static_cast<int>(codec.size()) % 3));
  for (int i = 0; i < epoch - 1 + seed % 2; ++i) errors[i] = 3;
  records.push_back(trained(codec, seed, errors));
}

Records late_codec(int late, const std::vector<double>& steps) {
  Records records;
  for (int seed = 1; seed <= 5; ++seed) {
    add_run(records, "fp32", seed, 10);
    add_run(records, "other", seed, seed == 2 ? late + 1 : late);
  }
  add_timed(records, "fp32", {20, 20.1, 19.9});
  add_timed(records, "other", steps);
  return records;
}

const std::vector<double> kQuicker{17.4, 17.5, 17.3};
const std::vector<double> kSlower{22, 22.1, 21.9};

std::string content(const Records& records, std::string_view name) {
  for (const ReportFile& file : write_report(study_with(0.2), records))
    if (file.name == name) return file.content;
  return "";
}

TEST(TheAnswer, IsNotYesWhereTheErrorIsReachedLater) {
  const Records records = late_codec(18, kQuicker);
  const Analysis found = analyse(records, study_with(0.2));
  EXPECT_EQ(time_of(found, "speed", "other").gain->judgement, Judgement::worse);
  EXPECT_EQ(setting_on(found, "1gbit").choices.at(0).accuracy, Judgement::same);
  EXPECT_EQ(found.answer.measured.yes, 0);
  const std::string page = content(records, "report.md");
  EXPECT_THAT(page, Not(HasSubstr("Yes in")));
  EXPECT_THAT(page, HasSubstr("reaches fp32's error later, or never"));
  EXPECT_THAT(content(records, "answer.csv"),
              AllOf(HasSubstr(",time to error"), HasSubstr("\r\nlater,"),
                    HasSubstr("other,1gbit,faster,same,slower")));
}

TEST(TheAnswer, IsYesWhereTheErrorIsReachedSooner) {
  const Records records = late_codec(10, kQuicker);
  EXPECT_EQ(analyse(records, study_with(0.2)).answer.measured.yes, 1);
  EXPECT_THAT(content(records, "answer.csv"), HasSubstr("other,1gbit,faster,same,faster"));
}

TEST(TheAnswer, ShowsSlowerStepsThatReachTheErrorSooner) {
  const Records records = late_codec(3, kSlower);
  const Analysis found = analyse(records, study_with(0.2));
  EXPECT_EQ(time_of(found, "speed", "other").gain->judgement, Judgement::better);
  EXPECT_EQ(found.answer.measured.no, 1);
  EXPECT_THAT(content(records, "answer.csv"), HasSubstr("other,1gbit,slower,same,faster"));
  EXPECT_THAT(content(records, "report.md"),
              HasSubstr("reaches fp32's error sooner all the same: other (1)"));
}

TEST(TheAnswer, IsNotYesWhereSeedsNeverReachTheError) {
  Records records = late_codec(10, kQuicker);
  for (CellRecord& record : records)
    if (record.cell.kind == "train" && record.cell.at("codec") == "other" &&
        record.cell.at("seed") == "3")
      for (EpochPoint& point : record.epochs) point.test_error = 3;
  EXPECT_EQ(analyse(records, study_with(0.2)).answer.measured.if_accurate, 1);
  EXPECT_THAT(content(records, "answer.csv"), HasSubstr("other,1gbit,faster,same,4 of 5 only"));
  for (CellRecord& record : records)
    if (record.cell.kind == "train" && record.cell.at("codec") == "other")
      for (EpochPoint& point : record.epochs) point.test_error = 3;
  EXPECT_EQ(analyse(records, study_with(0.2)).answer.measured.yes, 0);
  EXPECT_EQ(setting_on(analyse(records, study_with(0.2)), "1gbit").pays, Pays::later);
  EXPECT_THAT(content(records, "answer.csv"), HasSubstr("other,1gbit,faster,same,never"));
  // One run that never came there proves nothing.
  std::erase_if(records, [](const CellRecord& record) {
    return record.cell.kind == "train" && record.cell.at("seed") != "1";
  });
  EXPECT_EQ(setting_on(analyse(records, study_with(0.2)), "1gbit").pays, Pays::if_accurate);
}

TEST(TheAnswer, SaysOfPredictionsWhenTheErrorIsReachedLater) {
  Records records = late_codec(18, kQuicker);
  std::erase_if(records, [](const CellRecord& each) { return each.cell.kind == "speed"; });
  records.push_back(predicted("fp32", 20, {19.9, 20.1}));
  records.push_back(predicted("other", 17.4, {17.3, 17.5}));
  EXPECT_EQ(analyse(records, study_with(0.2)).answer.predicted.yes, 0);
  const std::string page = content(records, "report.md");
  EXPECT_THAT(page, AllOf(Not(HasSubstr("measured to be worse")),
                          HasSubstr("reach fp32's error later, or never, in 1 of them")));
}

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
