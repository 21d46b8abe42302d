#include "study/compare.hpp"

#include <gmock/gmock.h>

#include "tests/study/made_records.hpp"
#include "tests/support/check.hpp"

namespace narrowcast::test {
namespace {

const std::vector<double> kErrors{1.24, 1.31, 1.19, 1.27, 1.30};
const std::vector<double> kOtherErrors{1.26, 1.29, 1.25, 1.33, 1.28};

TEST(ACompareOfRecords, PairsSeedsOfTheSameCells) {
  Records before;
  add_trained(before, "fp32", kErrors);
  Records after;
  add_trained(after, "fp32", kOtherErrors);
  const SidesCompared found = compare_records(before, after, 0.1);
  ASSERT_EQ(found.rows.size(), 1);
  const SideBySide& row = found.rows.front();
  EXPECT_EQ(row.cell.at("codec"), "fp32");
  EXPECT_DOUBLE_EQ(row.a_error.mean, 1.262);
  EXPECT_DOUBLE_EQ(row.b_error.mean, 1.282);
  EXPECT_NEAR(row.error->effect.mean, 0.02, 1e-12);
  EXPECT_NEAR(row.error->p.value(), 0.3261642353450602, 1e-12);
  EXPECT_EQ(row.error->judgement, Judgement::same);
}

TEST(ACompareOfRecords, CallsNothingTheSameWhenASeedFailedOnEitherSide) {
  Records before;
  add_trained(before, "fp32", kErrors);
  Records after;
  add_trained(after, "fp32", kOtherErrors);
  after.back().state = CellState::failed;
  const SideBySide row = compare_records(before, after, 0.2).rows.at(0);
  EXPECT_EQ(row.b_missing, 1);
  EXPECT_EQ(row.error->judgement, Judgement::too_little);
  EXPECT_EQ(compare_records(after, before, 0.2).rows.at(0).error->judgement, Judgement::too_little);
  EXPECT_EQ(compare_records(after, before, 0.2).rows.at(0).a_missing, 1);
}

TEST(ACompareOfRecords, KnowsEqualWeights) {
  Records before;
  add_trained(before, "fp32", {1.2, 1.3});
  Records after = before;
  EXPECT_EQ(compare_records(before, after, 0.2).rows.at(0).error->judgement, Judgement::too_little);
  for (Records* side : {&before, &after})
    for (CellRecord& record : *side) record.replica_hash = "7c1607adeac00ca0";
  EXPECT_EQ(compare_records(before, after, 0).rows.at(0).error->judgement, Judgement::same);
}

TEST(ACompareOfRecords, DoesNotTakeOnePairForAll) {
  Records before;
  add_trained(before, "fp32", {2.0, 2.05, 2.1});
  Records after;
  add_trained(after, "fp32", {2.1, 9.0, 9.3});
  for (std::size_t i = 0; i < 3; ++i) after[i].cell.axes["seed"] = std::to_string(3 + i);
  for (Records* side : {&before, &after})
    for (CellRecord& record : *side)
      record.replica_hash = "hash of " + std::string(record.cell.at("seed"));
  const Contrast found = compare_records(before, after, 0.2).rows.at(0).error.value();
  EXPECT_FALSE(found.identical);
  EXPECT_NE(found.judgement, Judgement::same);
}

TEST(ACompareOfRecords, GoesByWelchWhenSeedsDiffer) {
  Records before;
  add_trained(before, "fp32", {30.02, 29.99, 30.11, 29.97, 30.01, 29.99});
  Records after;
  add_trained(after, "fp32", {29.89, 29.93, 29.72, 29.98, 30.02, 29.98});
  for (CellRecord& record : after) record.cell.axes["seed"] += "0";
  const SidesCompared found = compare_records(before, after, 0);
  // ttest_ind(equal_var=False) of scipy, see statistics_test.cpp
  EXPECT_NEAR(found.rows.at(0).error->p.value(), 0.09077332428566112, 1e-11);
  EXPECT_EQ(found.rows.at(0).error->judgement, Judgement::unclear);
}

TEST(ACompareOfRecords, ComparesStepsThatWereQuiet) {
  Records before;
  add_timed(before, "fp32", {20, 20.4, 19.8, 900});
  before.back().others = 1;
  Records after;
  add_timed(after, "fp32", {10, 10.3, 9.9});
  const SidesCompared found = compare_records(before, after, 0);
  const SideBySide& row = found.rows.at(0);
  EXPECT_FALSE(row.error);
  EXPECT_NEAR(row.gain->effect.mean, 1.9935064477978939, 1e-12);
  EXPECT_EQ(row.gain->judgement, Judgement::better);
  EXPECT_EQ(compare_records(after, before, 0).rows.at(0).gain->judgement, Judgement::worse);
}

TEST(ACompareOfRecords, ComparesNoTimesOfDifferentMachines) {
  Records before;
  add_timed(before, "fp32", {20, 20.4});
  Records after;
  add_timed(after, "fp32", {10, 10.3});
  for (CellRecord& record : after) record.machine.cpu = "quick";
  const SideBySide row = compare_records(before, after, 0).rows.at(0);
  EXPECT_FALSE(row.gain);
  EXPECT_TRUE(row.elsewhere);
  EXPECT_DOUBLE_EQ(row.b_step_ms.mean, 10.15);
}

TEST(ACompareOfRecords, HasNoRowsWithoutAnErrorOrATime) {
  const Records tables{made_record("errors", "fp16", 1)};
  EXPECT_TRUE(compare_records(tables, tables, 0).rows.empty());
}

TEST(ACompareOfRecords, CorrectsForAllRows) {
  Records before;
  Records after;
  for (const char* codec : {"fp32", "dynamic8", "static8"}) {
    add_trained(before, codec, kErrors);
    add_trained(after, codec, kOtherErrors);
  }
  EXPECT_NEAR(compare_records(before, after, 0.1).rows.at(2).error->holm.value(),
              3 * 0.3261642353450602, 1e-11);
}

TEST(ACompareOfRecords, NamesWhatOneSideLacks) {
  Records before;
  add_trained(before, "fp32", kErrors);
  add_trained(before, "dynamic8", kErrors);
  Records after;
  add_trained(after, "fp32", kErrors);
  add_trained(after, "static8", kErrors);
  add_trained(after, "dynamic8", {1});
  after.back().state = CellState::failed;
  const SidesCompared found = compare_records(before, after, 0);
  EXPECT_EQ(found.rows.size(), 1);
  ASSERT_EQ(found.only_a.size(), 1);
  EXPECT_EQ(found.only_a[0].at("codec"), "dynamic8");
  ASSERT_EQ(found.only_b.size(), 1);
  EXPECT_EQ(found.only_b[0].at("codec"), "static8");
}

TEST(ACompareOfCodecs, IsMadeInAllSurroundings) {
  Records records;
  add_trained(records, "fp32", kErrors);
  add_trained(records, "dynamic8", kOtherErrors);
  add_trained(records, "static8", kOtherErrors);
  add_timed(records, "fp32", {20, 20.4, 19.8});
  add_timed(records, "dynamic8", {10, 10.3, 9.9});
  add_trained(records, "dynamic8", {1, 2});
  for (CellRecord& record : std::span(records).last(2)) record.cell.axes["workers"] = "4";
  const SidesCompared found = compare_codecs(records, {.a = "fp32", .b = "dynamic8"}, 0.1);
  ASSERT_EQ(found.rows.size(), 2);
  // In the order of their names.
  EXPECT_EQ(found.rows[0].cell.kind, "speed");
  EXPECT_EQ(found.rows[0].gain->judgement, Judgement::better);
  EXPECT_EQ(found.rows[1].cell.kind, "train");
  EXPECT_EQ(found.rows[1].cell.at("codec"), "");
  EXPECT_EQ(found.rows[1].error->judgement, Judgement::same);
  EXPECT_TRUE(found.only_a.empty());
  ASSERT_EQ(found.only_b.size(), 1);
  EXPECT_EQ(found.only_b[0].at("workers"), "4");
}

TEST(ACompareOfCodecs, TakesPlansWithRulesByTheirNames) {
  Records records;
  add_trained(records, "fp32", kErrors);
  add_trained(records, "fp32", kOtherErrors);
  for (CellRecord& record : std::span(records).last(5)) {
    record.cell.axes["plan"] = "hybrid";
    record.cell.settings = {{"plan.rule", "[...]"}};
  }
  const SidesCompared found = compare_codecs(records, {.a = "fp32", .b = "hybrid"}, 0.1);
  ASSERT_EQ(found.rows.size(), 1);
  EXPECT_NEAR(found.rows[0].error->effect.mean, 0.02, 1e-12);
}

TEST(ACompareOfCodecs, RefusesWhatNobodyMeasured) {
  Records records;
  add_trained(records, "fp32", kErrors);
  EXPECT_EQ(fault_of([&] { compare_codecs(records, {.a = "fp32", .b = "qsgd"}, 0); }),
            Fault::usage);
}

}  // namespace
}  // namespace narrowcast::test
