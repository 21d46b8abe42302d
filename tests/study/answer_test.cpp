// Time to accuracy and the answer, where the truth is known.
#include <gmock/gmock.h>

#include <algorithm>

#include "tests/study/made_records.hpp"

namespace narrowcast::test {
namespace {

using testing::IsEmpty;

TEST(ATimeToError, IsEpochsTimesSeconds) {
  const Records records = three_codecs();
  const Analysis found = analyse(records, study_with(0.1));
  const TimeToError& plain = time_of(found, "speed", "fp32");
  // The worst of the baseline's best errors is 1.22.
  EXPECT_NEAR(plain.target, 1.32, 1e-12);
  EXPECT_EQ(plain.seeds, 5);
  EXPECT_EQ(plain.reached, 5);
  EXPECT_EQ(plain.epochs.mean, 3);
  EXPECT_NEAR(plain.epoch_s.mean, 100 * 20.0667e-3, 1e-4);
  EXPECT_NEAR(plain.seconds->mean, 3 * plain.epoch_s.mean, 1e-12);
  EXPECT_FALSE(plain.gain);
  const TimeToError& good = time_of(found, "speed", "good");
  EXPECT_NEAR(good.gain->effect.mean, 1.9935064477978939, 1e-12);
  EXPECT_EQ(good.gain->judgement, Judgement::better);
}

TEST(ATimeToError, SaysWhenTheTargetIsNeverReached) {
  const Records records = three_codecs();
  const Analysis found = analyse(records, study_with(0.1));
  const TimeToError& crude = time_of(found, "speed", "crude");
  EXPECT_EQ(crude.seeds, 5);
  EXPECT_EQ(crude.reached, 0);
  EXPECT_FALSE(crude.seconds);
  EXPECT_FALSE(crude.gain);
}

TEST(ATimeToError, HasNoSecondsUnlessEverySeedReachesIt) {
  Records records = three_codecs();
  const auto some = std::ranges::find_if(records, [](const CellRecord& record) {
    return record.cell.kind == "train" && record.cell.at("codec") == "good";
  });
  for (EpochPoint& point : some->epochs) point.test_error = 9;
  const Analysis found = analyse(records, study_with(0.1));
  const TimeToError& good = time_of(found, "speed", "good");
  EXPECT_EQ(good.reached, 4);
  EXPECT_EQ(good.epochs.count, 4);
  EXPECT_FALSE(good.seconds);
  EXPECT_FALSE(good.gain);
}

TEST(ATimeToError, CountsMoreEpochsAgainstQuickerSteps) {
  Records records;
  for (int seed = 1; seed <= 4; ++seed) {
    // One epoch or two, and two or four.
    const double early = seed % 2 == 0 ? 2 : 1;
    records.push_back(trained("fp32", seed, {early, 1}));
    records.push_back(trained("lazy", seed, {3, early, early, 1}));
  }
  add_timed(records, "fp32", {20, 20.4, 19.8});
  add_timed(records, "lazy", {10, 10.3, 9.9});
  const Analysis found = analyse(records, study_with(0));
  const TimeToError& lazy = time_of(found, "speed", "lazy");
  EXPECT_EQ(lazy.epochs.mean, 3);
  EXPECT_NEAR(lazy.gain->effect.mean, 1.9935064477978939 / 2, 1e-12);
}

TEST(ATimeToError, TakesARunsOwnStepsWhereNoSpeedWasMeasured) {
  Records records = three_codecs();
  Analysis found = analyse(records, study_with(0.1));
  EXPECT_EQ(time_of(found, "train", "fp32").epoch_s.mean, 1);
  // On the same wires, cells of kind speed know better.
  for (CellRecord& record : records)
    if (record.cell.kind == "speed") record.cell.axes["link"] = "none";
  found = analyse(records, study_with(0.1));
  EXPECT_TRUE(std::ranges::none_of(found.times, [&](const TimeToError& each) {
    return found.groups[each.timing].cell.kind == "train";
  }));
  EXPECT_THAT(found.times, testing::SizeIs(4));
}

TEST(ATimeToError, KeepsToCurvesOfTheSameBits) {
  for (const char* axis : {"net", "data", "parallel", "workers", "plan"}) {
    Records records = three_codecs();
    for (CellRecord& record : records)
      if (record.cell.kind == "speed") record.cell.axes[axis] = "7";
    const Analysis found = analyse(records, study_with(0.1));
    EXPECT_TRUE(std::ranges::none_of(found.times, [&](const TimeToError& each) {
      return found.groups[each.timing].cell.kind == "speed";
    })) << axis;
  }
  Records records = three_codecs();
  for (CellRecord& record : records) record.values["batch"] = record.cell.kind == "speed" ? 32 : 64;
  EXPECT_THAT(analyse(records, study_with(0.1)).times, testing::SizeIs(4));
}

TEST(ATimeToError, TakesTheCurveOfTheSameWires) {
  Records records = three_codecs();
  const Records all = records;
  for (const CellRecord& record : all)
    if (record.cell.kind == "train") {
      records.push_back(record);
      records.back().cell.axes["link"] = "1gbit";
    }
  const Analysis found = analyse(records, study_with(0.1));
  const TimeToError& good = time_of(found, "speed", "good");
  EXPECT_EQ(found.groups[good.curve].at("link"), "1gbit");
}

TEST(TheAnswer, NamesTheCodecThatIsQuickerAndAsAccurate) {
  const Records records = three_codecs();
  const Analysis found = analyse(records, study_with(0.1));
  const StudySetting& setting = setting_on(found, "1gbit");
  EXPECT_EQ(setting.pays, Pays::yes);
  EXPECT_FALSE(setting.axes.contains("codec"));
  EXPECT_EQ(setting.axes.at("data"), "mnist");
  ASSERT_EQ(setting.choices.size(), 3);
  const Choice& best = setting.choices[setting.best.value()];
  EXPECT_EQ(found.groups[best.timing].at("codec"), "good");
  EXPECT_EQ(best.accuracy, Judgement::same);
  EXPECT_NEAR(best.gain.effect.mean, 1.99, 0.01);
  // Quicker still, but worse; and slower.
  EXPECT_EQ(setting.choices[1].accuracy, Judgement::worse);
  EXPECT_EQ(setting.choices[1].pays, Pays::no);
  EXPECT_EQ(setting.choices[2].pays, Pays::no);
  EXPECT_EQ(found.answer.measured.yes, 1);
  EXPECT_NEAR(found.answer.measured.largest_gain.value(), 1.99, 0.01);
  ASSERT_EQ(found.answer.measured.wins.size(), 1);
  EXPECT_EQ(found.answer.measured.wins.front().codec, "good");
  EXPECT_EQ(found.answer.predicted.settings, 0);
}

TEST(TheAnswer, IsNoWhenEveryCodecWasJudged) {
  Records records = three_codecs();
  std::erase_if(records, [](const CellRecord& each) { return each.cell.at("codec") == "good"; });
  const Analysis found = analyse(records, study_with(0.1));
  EXPECT_EQ(setting_on(found, "1gbit").pays, Pays::no);
  // What the row shows: quick, but worse.
  const StudySetting& setting = setting_on(found, "1gbit");
  EXPECT_EQ(found.groups[setting.choices[setting.best.value()].timing].at("codec"), "crude");
}

TEST(TheAnswer, IsNotYesWhenSeedsFailed) {
  Records records = three_codecs();
  for (CellRecord& record : records)
    if (record.cell.kind == "train" && record.cell.at("codec") == "good" &&
        record.cell.at("seed") > "3")
      record.state = CellState::failed;
  const Analysis found = analyse(records, study_with(0.1));
  EXPECT_EQ(setting_on(found, "1gbit").pays, Pays::if_accurate);
  EXPECT_EQ(setting_on(found, "1gbit").choices[0].accuracy, Judgement::too_little);
  EXPECT_EQ(time_of(found, "speed", "good").seeds, 5);
  EXPECT_FALSE(time_of(found, "speed", "good").gain);
  for (CellRecord& record : records)
    if (record.cell.kind == "train" && record.cell.at("codec") == "good")
      record.state = CellState::failed;
  EXPECT_EQ(setting_on(analyse(records, study_with(0.1)), "1gbit").choices[0].accuracy,
            Judgement::too_little);
}

TEST(TheAnswer, ShowsTheCodecThatMakesItSo) {
  Records records;
  for (int seed = 1; seed <= 5; ++seed) {
    const double luck = 0.01 * (seed % 3);
    records.push_back(trained("fp32", seed, {1.2 + luck}));
    records.push_back(trained("crude", seed, {3 + luck + 0.01 * (seed % 2)}));
  }
  add_timed(records, "fp32", {20, 20.4, 19.8});
  add_timed(records, "crude", {5, 5.1, 4.9});
  add_timed(records, "shaky", {12, 19, 31});
  const Analysis found = analyse(records, study_with(0.1));
  const StudySetting& setting = setting_on(found, "1gbit");
  // Not known of "shaky", whatever is known of "crude".
  EXPECT_EQ(setting.pays, Pays::unclear);
  EXPECT_EQ(found.groups[setting.choices[setting.best.value()].timing].at("codec"), "shaky");
  EXPECT_EQ(found.answer.measured.unclear, 1);
}

TEST(ATimeToError, IsNotQuickerByNoiseInItsSteps) {
  Records records;
  for (int i = 0; i < 12; ++i) {
    const std::string codec = i == 0 ? "fp32" : "codec" + std::to_string(i);
    for (int seed = 1; seed <= 3; ++seed) records.push_back(trained(codec, seed, {2, 1}));
    // Alone, each would be quicker: p is about 0.02.
    add_timed(records, codec,
              i == 0 ? std::vector<double>{20, 20.4, 19.8} : std::vector<double>{19, 19.4, 18.8});
  }
  const Analysis found = analyse(records, study_with(0));
  const TimeToError& one = time_of(found, "speed", "codec1");
  EXPECT_GT(one.gain->effect.low.value(), 1);
  EXPECT_EQ(one.gain->judgement, Judgement::unclear);
}

TEST(TheAnswer, DependsOnAccuracyThatNobodyMeasured) {
  Records records = three_codecs();
  std::erase_if(records, [](const CellRecord& each) { return each.cell.kind == "train"; });
  const Analysis found = analyse(records, study_with(0.1));
  const StudySetting& setting = setting_on(found, "1gbit");
  EXPECT_EQ(setting.pays, Pays::if_accurate);
  const Choice& best = setting.choices[setting.best.value()];
  EXPECT_EQ(found.groups[best.timing].at("codec"), "crude");
  EXPECT_FALSE(best.accuracy);
  EXPECT_EQ(found.answer.measured.if_accurate, 1);
  EXPECT_FALSE(found.answer.measured.median_gain);
}

TEST(TheAnswer, DoesNotTakeTooFewSeedsForTheSame) {
  Records records = three_codecs();
  std::erase_if(records, [](const CellRecord& each) {
    return each.cell.kind == "train" && each.cell.at("seed") != "1";
  });
  const Analysis found = analyse(records, study_with(0.1));
  EXPECT_EQ(setting_on(found, "1gbit").pays, Pays::if_accurate);
}

TEST(TheAnswer, TakesTheWorseOfTwoTrainings) {
  for (const double lost : {0.0, 1.0}) {
    Records records = three_codecs();
    const Records all = records;
    for (const CellRecord& record : all)
      if (record.cell.kind == "train") {
        records.push_back(record);
        records.back().cell.settings["epochs"] = "7";
        if (record.cell.at("codec") == "good") records.back().values["last_error"] += lost;
      }
    const Analysis found = analyse(records, study_with(0.1));
    EXPECT_EQ(setting_on(found, "1gbit").pays, lost > 0 ? Pays::no : Pays::yes);
  }
}

TEST(TheAnswer, IsUnknownWithoutTimesOrBaseline) {
  Records busy = three_codecs();
  for (CellRecord& record : busy)
    if (record.cell.at("codec") == "good") record.others = 1;
  EXPECT_EQ(setting_on(analyse(busy, study_with(0.1)), "1gbit").pays, Pays::unknown);

  Records alone = three_codecs();
  std::erase_if(alone, [](const CellRecord& each) { return each.cell.at("codec") == "fp32"; });
  EXPECT_EQ(setting_on(analyse(alone, study_with(0.1)), "1gbit").pays, Pays::unknown);
}

TEST(TheAnswer, KeepsMeasuredAndPredictedApart) {
  Records records = three_codecs();
  records.push_back(predicted("fp32", 20, {19, 21}));
  records.push_back(predicted("good", 5, {4.5, 5.5}));
  const Analysis found = analyse(records, study_with(0.1));
  EXPECT_EQ(found.answer.predicted.settings, 1);
  EXPECT_EQ(found.answer.predicted.yes, 1);
  EXPECT_NEAR(found.answer.predicted.median_gain.value(), 4, 1e-12);
  EXPECT_NEAR(found.answer.measured.median_gain.value(), 1.99, 0.01);
  EXPECT_EQ(found.answer.settings.back().source, Source::predicted);
  // From its curves.
  EXPECT_EQ(found.answer.settings.back().axes.at("data"), "mnist");
}

TEST(TheAnswer, OfNoRecordsIsEmpty) {
  const Analysis found = analyse({}, study_with(0.1));
  EXPECT_THAT(found.answer.settings, IsEmpty());
  EXPECT_THAT(found.groups, IsEmpty());
  EXPECT_FALSE(found.prediction.median);
}

}  // namespace
}  // namespace narrowcast::test
