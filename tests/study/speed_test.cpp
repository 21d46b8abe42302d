// What is said of times, where the truth is known.
#include <gmock/gmock.h>

#include <cmath>
#include <random>

#include "tests/study/made_records.hpp"

namespace narrowcast::test {
namespace {

const std::vector<double> kPlain{20, 20.4, 19.8};

Contrast gain_in(const Records& records, std::string_view codec) {
  const Analysis found = analyse(records, study_with(0));
  return speed_of(found, "speed", codec).gain.value();
}

TEST(ASpeed, IsTheBaselinesStepOverItsOwn) {
  Records records;
  add_timed(records, "fp32", kPlain);
  add_timed(records, "dynamic8", {10, 10.3, 9.9});
  const Contrast gain = gain_in(records, "dynamic8");
  // ttest_ind(log(a), log(b), equal_var=False) of scipy, and exp of its interval
  EXPECT_NEAR(gain.effect.mean, 1.9935064477978939, 1e-12);
  EXPECT_NEAR(gain.effect.low.value(), 1.91062922, 1e-7);
  EXPECT_NEAR(gain.effect.high.value(), 2.07997864, 1e-7);
  EXPECT_NEAR(gain.p.value(), 3.0714679168849307e-06, 1e-15);
  EXPECT_EQ(gain.judgement, Judgement::better);
}

TEST(ASpeed, IsJudgedByItsInterval) {
  Records records;
  add_timed(records, "fp32", kPlain);
  add_timed(records, "slow", {40, 40.5, 39.9});
  add_timed(records, "alike", {20.01, 20.2, 20.1});
  add_timed(records, "shaky", {12, 19, 31});
  EXPECT_EQ(gain_in(records, "slow").judgement, Judgement::worse);
  EXPECT_EQ(gain_in(records, "alike").judgement, Judgement::unclear);
  EXPECT_EQ(gain_in(records, "shaky").judgement, Judgement::unclear);

  Records steady;
  add_timed(steady, "fp32", {20, 20.1, 20.05});
  add_timed(steady, "alike", {20.01, 20.2, 20.1});
  EXPECT_EQ(gain_in(steady, "alike").judgement, Judgement::same);
}

TEST(ASpeed, CountsQuietRecordsOnly) {
  Records records;
  add_timed(records, "fp32", kPlain);
  add_timed(records, "dynamic8", {10, 10.3, 500});
  records.back().others = 0.6;
  const Analysis found = analyse(records, study_with(0));
  const Speed& own = speed_of(found, "speed", "dynamic8");
  EXPECT_DOUBLE_EQ(own.step_ms.mean, 10.15);
  EXPECT_EQ(own.images_per_s.count, 2);
  EXPECT_EQ(own.gain->judgement, Judgement::better);
}

TEST(ASpeed, OfOneRunIsTooLittleHoweverItsStepsScatter) {
  Records records{timed("fp32", 1, 20), timed("dynamic8", 1, 10)};
  for (CellRecord& record : records) {
    record.values["step_low_ms"] = 0.9 * record.values["step_ms"];
    record.values["step_high_ms"] = 1.1 * record.values["step_ms"];
  }
  const Contrast gain = gain_in(records, "dynamic8");
  EXPECT_EQ(gain.judgement, Judgement::too_little);
  EXPECT_DOUBLE_EQ(gain.effect.mean, 2);
  EXPECT_FALSE(gain.effect.low);
  EXPECT_FALSE(gain.p);
  records.push_back(timed("dynamic8", 2, 10.1));
  EXPECT_EQ(gain_in(records, "dynamic8").judgement, Judgement::too_little);
}

// Times that differ by chance alone.
Records noise_of(std::uint32_t seed_of_dice, std::size_t codecs) {
  Records records;
  std::mt19937 dice(seed_of_dice);
  std::normal_distribution<double> noise(0, 0.02);
  for (std::size_t i = 0; i <= codecs; ++i) {
    std::vector<double> steps;
    for (int seed = 0; seed < 3; ++seed) steps.push_back(20 * std::exp(noise(dice)));
    add_timed(records, i == 0 ? "fp32" : "codec" + std::to_string(i), steps);
  }
  return records;
}

TEST(ASpeed, IsNotFoundInNoise) {
  Records records;
  for (const std::uint32_t dice : {1, 2, 3, 4, 5}) {
    records = noise_of(dice, 60);
    const Analysis found = analyse(records, study_with(0));
    for (const Speed& speed : found.speed)
      if (speed.gain) {
        EXPECT_NE(speed.gain->judgement, Judgement::better) << dice;
        EXPECT_NE(speed.gain->judgement, Judgement::worse) << dice;
      }
  }
  // Among which a real difference is found all the same.
  add_timed(records, "quick", {10, 10.1, 9.95});
  EXPECT_EQ(gain_in(records, "quick").judgement, Judgement::better);
}

TEST(ASpeed, IsCorrectedForWhatIsShownOnly) {
  Records records;
  add_timed(records, "fp32", kPlain);
  add_timed(records, "dynamic8", {10, 10.3, 9.9});
  const std::optional<double> alone = gain_in(records, "dynamic8").holm;
  // Trained with the same axes as the steps that were timed.
  for (const char* codec : {"fp32", "dynamic8"})
    for (int seed = 1; seed <= 3; ++seed) {
      records.push_back(trained(codec, seed, {2}));
      records.back().cell.axes["link"] = "1gbit";
      records.back().values["step_ms"] = 10 + 0.1 * seed;
    }
  EXPECT_EQ(gain_in(records, "dynamic8").holm, alone);
  EXPECT_FALSE(speed_of(analyse(records, study_with(0)), "train", "dynamic8").gain);
}

TEST(ASpeed, OfEqualStepsIsTooLittle) {
  Records records;
  add_timed(records, "fp32", {20, 20});
  add_timed(records, "dynamic8", {19, 19});
  EXPECT_EQ(gain_in(records, "dynamic8").judgement, Judgement::too_little);
}

TEST(ASpeed, IsComparedOnOneMachine) {
  Records records;
  add_timed(records, "fp32", {20, 20.4, 19.8, 5, 5.1});
  add_timed(records, "dynamic8", {10, 10.3, 9.9});
  for (const std::size_t quick : {3, 4}) records[quick].machine.cpu = "quick";
  const Contrast gain = gain_in(records, "dynamic8");
  EXPECT_NEAR(gain.effect.mean, 1.9935064477978939, 1e-12);
  EXPECT_EQ(gain.effect.count, 3);
  for (CellRecord& record : records)
    record.machine.cores = record.cell.at("codec") == "fp32" ? 2 : 4;
  const Analysis apart = analyse(records, study_with(0));
  EXPECT_FALSE(speed_of(apart, "speed", "dynamic8").gain);
  EXPECT_TRUE(apart.answer.settings.empty() || apart.answer.measured.yes == 0);
}

TEST(ASpeed, IsOfOneMachineEach) {
  Records records;
  add_timed(records, "fp32", {20, 20.4, 5, 5.1});
  add_timed(records, "dynamic8", {10, 10.2, 4, 4.1});
  for (const std::size_t quick : {2, 3, 6, 7}) records[quick].machine.cpu = "quick";
  const Analysis found = analyse(records, study_with(0));
  ASSERT_EQ(found.speed.size(), 4);
  for (const Speed& speed : found.speed) {
    EXPECT_EQ(speed.step_ms.count, 2);
    const bool quick = found.groups[speed.group].at("machine") == "0 x quick";
    EXPECT_EQ(speed.step_ms.mean < 6, quick) << speed.step_ms.mean;
  }
  EXPECT_EQ(found.answer.measured.settings, 2);
}

TEST(ASpeed, OfTrainingIsThatOfTheUsualMachine) {
  Records records;
  add_trained(records, "fp32", {2, 2, 2});
  add_trained(records, "dynamic8", {2, 2, 2});
  records[2].machine.cpu = records[5].machine.cpu = "slow";
  records[2].values["step_ms"] = records[5].values["step_ms"] = 90;
  const Analysis found = analyse(records, study_with(0));
  EXPECT_EQ(speed_of(found, "train", "fp32").step_ms.mean, 10);
  EXPECT_EQ(accuracy_of(found, "fp32").last.count, 3);
}

TEST(ASpeed, OfNoQuietRunIsTooLittle) {
  Records records;
  add_timed(records, "fp32", kPlain);
  add_timed(records, "dynamic8", {10, 10.3});
  for (CellRecord& record : records) record.others = 0.9;
  EXPECT_EQ(gain_in(records, "dynamic8").judgement, Judgement::too_little);
  for (CellRecord& record : records) record.state = CellState::failed;
  EXPECT_EQ(gain_in(records, "dynamic8").judgement, Judgement::too_little);
}

TEST(ASpeed, OfAPredictionHasItsBounds) {
  const Records records{predicted("fp32", 20, {19, 21}), predicted("dynamic8", 10, {9.5, 10.5}),
                        predicted("qsgd", 19, {15, 24})};
  const Analysis found = analyse(records, study_with(0));
  const Speed& own = speed_of(found, "predict", "dynamic8");
  EXPECT_EQ(own.source, Source::predicted);
  EXPECT_EQ(own.step_ms.high, 10.5);
  EXPECT_EQ(own.gain->judgement, Judgement::better);
  EXPECT_EQ(speed_of(found, "predict", "qsgd").gain->judgement, Judgement::unclear);
}

TEST(ASpeed, OfAPredictionIsOffTogetherWithItsBaseline) {
  Records records{predicted("fp32", 20, {10, 40}), predicted("dynamic8", 16, {8, 32})};
  // Apart, both bounds add up.
  const Speed apart = speed_of(analyse(records, study_with(0)), "predict", "dynamic8");
  EXPECT_NEAR(apart.gain->effect.high.value(), 1.25 * std::exp(std::hypot(1, 1) * std::log(2)),
              1e-9);
  EXPECT_EQ(apart.gain->judgement, Judgement::unclear);
  // 15.5 ms of both are the same computing.
  for (CellRecord& record : records) record.values["compute_ms"] = 15.5;
  const Speed own = speed_of(analyse(records, study_with(0)), "predict", "dynamic8");
  const double together =
      0.775 * 0.96875 / (std::hypot(0.775, 0.225) * std::hypot(0.96875, 0.03125));
  const double reach = std::sqrt(2 - 2 * together) * std::log(2);
  EXPECT_NEAR(own.gain->effect.low.value(), 1.25 * std::exp(-reach), 1e-9);
  EXPECT_NEAR(own.gain->effect.high.value(), 1.25 * std::exp(reach), 1e-9);
  EXPECT_EQ(own.gain->judgement, Judgement::better);
  // Another profile computes for another time.
  records[0].values["compute_ms"] = 14;
  EXPECT_EQ(speed_of(analyse(records, study_with(0)), "predict", "dynamic8").gain->judgement,
            Judgement::unclear);
}

TEST(ASpeed, OfAProfileFromElsewhereDoesNotMindTheLoad) {
  Records records{predicted("fp32", 20, {19, 21}), predicted("fp32", 20, {19, 21})};
  records[1].cell.axes["profile"] = "dgx1";
  for (CellRecord& record : records) record.others = 0.9;
  const Analysis found = analyse(records, study_with(0));
  EXPECT_EQ(found.groups[0].busy(), 1);
  EXPECT_EQ(found.groups[1].busy(), 0);
}

TEST(Predictions, AreHeldAgainstWhatWasMeasured) {
  Records records{predicted("fp32", 22, {19, 25}), predicted("dynamic8", 8, {7, 9}),
                  predicted("onebit", 3, {2, 4})};
  add_timed(records, "fp32", {20});
  add_timed(records, "dynamic8", {10});
  const Analysis found = analyse(records, study_with(0));
  ASSERT_EQ(found.prediction.checks.size(), 2);
  const Check& plain = found.prediction.checks[0];
  EXPECT_EQ(plain.predicted_ms, 22);
  EXPECT_EQ(plain.measured_ms, 20);
  EXPECT_NEAR(plain.relative_error, 0.1, 1e-12);
  EXPECT_TRUE(plain.inside);
  EXPECT_NEAR(found.prediction.checks[1].relative_error, -0.2, 1e-12);
  EXPECT_EQ(found.prediction.inside, 1);
  EXPECT_NEAR(found.prediction.median.value(), 0.15, 1e-12);
  EXPECT_NEAR(found.prediction.worst.value(), 0.2, 1e-12);
}

TEST(Predictions, AreHeldAgainstNothingElse) {
  Records records{predicted("fp32", 22, {19, 25})};
  add_timed(records, "fp32", {20});
  const auto checks_with = [&](const std::string& axis, const std::string& value) {
    Records other = records;
    other.back().cell.axes[axis] = value;
    const PredictionCheck found = analyse(other, study_with(0)).prediction;
    EXPECT_EQ(found.median.has_value(), !found.checks.empty());
    return found.checks.size();
  };
  EXPECT_EQ(checks_with("plan", "none"), 1);
  for (const char* axis : {"net", "workers", "link", "transport", "codec", "batch", "plan"})
    EXPECT_EQ(checks_with(axis, "7"), 0) << axis;
  records.front().cell.axes["profile"] = "dgx1";
  EXPECT_EQ(checks_with("plan", "none"), 0);
}

TEST(Predictions, AreHeldAgainstTheSameMachine) {
  Records records{predicted("fp32", 22, {19, 25})};
  add_timed(records, "fp32", {20, 90});
  records.back().machine.cpu = "slow";
  EXPECT_EQ(analyse(records, study_with(0)).prediction.checks.at(0).measured_ms, 20);
  records.front().machine.cpu = "quick";
  EXPECT_TRUE(analyse(records, study_with(0)).prediction.checks.empty());
}

TEST(ACost, IsOfAllWorkersForAnEpoch) {
  Records records{predicted("fp32", 36, {35, 37}), predicted("dynamic8", 18, {17, 19})};
  for (CellRecord& record : records) {
    record.cell.settings["images"] = "1000001";
    record.values["batch"] = 50;
    record.values["price"] = 3;
  }
  const Analysis found = analyse(records, study_with(0));
  ASSERT_EQ(found.cost.size(), 2);
  // 10001 steps of 36 ms on two workers at 3 an hour
  EXPECT_NEAR(found.cost[0].seconds, 360.036, 1e-9);
  EXPECT_NEAR(found.cost[0].price, 0.60006, 1e-9);
  EXPECT_FALSE(found.cost[0].over_baseline);
  EXPECT_NEAR(found.cost[1].over_baseline.value(), 0.5, 1e-12);

  for (CellRecord& record : records) record.cell.axes["parallel"] = "model";
  EXPECT_NEAR(analyse(records, study_with(0)).cost[0].seconds, 360.036, 1e-9);
}

TEST(ACost, NeedsAPrice) {
  Records records{predicted("fp32", 36, {35, 37})};
  records[0].cell.settings["images"] = "1000";
  records[0].values["batch"] = 50;
  EXPECT_TRUE(analyse(records, study_with(0)).cost.empty());
}

}  // namespace
}  // namespace narrowcast::test
