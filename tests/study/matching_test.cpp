// Which times and which curves belong together.
#include <gmock/gmock.h>

#include <algorithm>

#include "study/report.hpp"
#include "tests/study/made_records.hpp"

namespace narrowcast::test {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

// Trained in one place, where cells of kind "speed" time all but "untimed"; and with other data, where none does.
Records partly_timed() {
  Records records = three_codecs();
  for (CellRecord& record : records) record.cell.axes["link"] = "none";
  for (const std::string codec : {"fp32", "untimed"})
    for (int seed = 1; seed <= 5; ++seed) {
      CellRecord record = trained(codec, seed, {2, 1 + 0.01 * (seed % 3)});
      record.cell.settings["feedback"] = codec == "fp32" ? "false" : "true";
      record.cell.settings["epochs"] = "2";
      record.values["images_per_s"] = 100;
      record.values["compute_ms"] = 5;
      if (codec == "untimed") records.push_back(record);
      record.cell.axes["data"] = "fashion-mnist";
      records.push_back(record);
    }
  for (CellRecord& record : records)
    if (record.cell.kind == "train" && record.cell.at("data") == "mnist") {
      record.cell.settings["epochs"] = "2";
      record.values["step_ms"] = 10 + 0.1 * (record.cell.at("seed")[0] - '0');
    }
  return records;
}

std::string content(const Records& records, std::string_view name) {
  for (const ReportFile& file : write_report(study_with(0.1), records))
    if (file.name == name) return file.content;
  return "";
}

TEST(APlace, IsTimedByCellsOfKindSpeedAlone) {
  const Records records = partly_timed();
  const Analysis found = analyse(records, study_with(0.1));
  ASSERT_THAT(found.answer.settings, SizeIs(2));
  EXPECT_THAT(setting_on(found, "none").choices, SizeIs(3));
  EXPECT_EQ(found.answer.settings.back().axes.at("data"), "fashion-mnist");
  // What nobody sees counts against nothing else.
  const std::size_t untimed = std::ranges::count_if(found.speed, [&](const Speed& speed) {
    const CellGroup& group = found.groups[speed.group];
    return group.cell.kind == "train" && group.at("data") == "mnist" && speed.gain;
  });
  EXPECT_EQ(untimed, 0);
}

TEST(APlace, IsTheSameInAllFigures) {
  const Records records = partly_timed();
  for (const std::string name : {"answer.csv", "samples.csv", "speedup.csv"}) {
    const std::string csv = content(records, name);
    EXPECT_THAT(csv, HasSubstr("fashion-mnist")) << name;
    EXPECT_THAT(csv, Not(AnyOf(HasSubstr(",mnist,untimed"), HasSubstr("\r\nmnist,untimed"))))
        << name;
  }
  EXPECT_THAT(content(records, "parts.csv"), HasSubstr("fashion-mnist"));
}

TEST(APlace, MayLeaveItsDataAndBatchUnsaid) {
  Records records = partly_timed();
  for (CellRecord& record : records)
    if (record.cell.kind == "speed") {
      record.cell.axes.erase("data");
      record.values["batch"] = 64;
    } else if (record.cell.at("data") == "mnist") {
      record.values["batch"] = 64;
    } else {
      record.values["batch"] = 32;
    }
  EXPECT_THAT(analyse(records, study_with(0.1)).answer.settings, SizeIs(2));
}

TEST(TheAnswer, HasNoColumnsForHowACodecIsSent) {
  Records records = partly_timed();
  for (CellRecord record : partly_timed())
    if (record.cell.kind == "speed") {
      record.cell.settings["launcher"] = "mpirun";
      record.cell.settings["plan.rule"] = "[{ codec = 'x' }]";
      record.cell.settings["feedback"] = "true";
      records.push_back(record);
    }
  const std::string csv = content(records, "answer.csv");
  EXPECT_THAT(csv, HasSubstr("launcher"));
  for (const char* column : {"epochs", "steps", "feedback", "plan.rule"})
    EXPECT_THAT(csv.substr(0, csv.find('\r')), Not(HasSubstr(column)));
}

// Times of "good" for which its curve holds, when `change` was done to what times them.
template <typename Change>
Pays pays_when(Change change) {
  Records records = three_codecs();
  records.push_back(predicted("fp32", 20, {19, 21}));
  records.push_back(predicted("good", 5, {4.5, 5.5}));
  for (CellRecord& record : records) change(record);
  const Analysis found = analyse(records, study_with(0.1));
  const auto good = [&](const Source source) {
    for (const StudySetting& setting : found.answer.settings)
      if (setting.source == source && setting.axes.at("link") == "1gbit") return setting.pays;
    return Pays::no;
  };
  EXPECT_EQ(good(Source::measured), good(Source::predicted));
  return good(Source::measured);
}

TEST(ACurve, HoldsForItsOwnAllReduceAlone) {
  const auto with = [](const char* of_trained, const char* of_timed) {
    return pays_when([&](CellRecord& record) {
      const char* algorithm = record.cell.kind == "train" ? of_trained : of_timed;
      const char* key = record.cell.kind == "predict" ? "algorithm" : "plan.algorithm";
      if (algorithm != std::string()) record.cell.settings[key] = algorithm;
    });
  };
  EXPECT_EQ(with("", "ring"), Pays::if_accurate);
  EXPECT_EQ(with("ring", ""), Pays::if_accurate);
  EXPECT_EQ(with("", "direct"), Pays::yes);
  EXPECT_EQ(with("direct", ""), Pays::yes);
  EXPECT_EQ(with("ring", "ring"), Pays::yes);
}

TEST(ACurve, HoldsWhateverDecidesTimesAlone) {
  EXPECT_EQ(pays_when([](CellRecord& record) {
              auto& settings = record.cell.settings;
              if (record.cell.kind == "train") {
                settings["epochs"] = "20";
                settings["hash_every"] = "0";
              } else {
                settings["launcher"] = "srun";
                settings[record.cell.kind == "speed" ? "plan.fusion" : "fusion"] = "1024G";
                settings[record.cell.kind == "speed" ? "steps" : "images"] = "60";
              }
            }),
            Pays::yes);
}

TEST(ACurve, HoldsInFp32ForEveryAllReduce) {
  Records records = three_codecs();
  for (CellRecord& record : records)
    if (record.cell.kind == "speed") record.cell.settings["plan.algorithm"] = "ring";
  const Analysis found = analyse(records, study_with(0.1));
  EXPECT_EQ(time_of(found, "speed", "fp32").reached, 5);
  EXPECT_ANY_THROW(time_of(found, "speed", "good"));
}

// A prediction says nothing of optimisers; a run has one.
TEST(ACurve, HoldsForRunsThatLearnAlike) {
  Records records = three_codecs();
  records.push_back(predicted("fp32", 20, {19, 21}));
  records.push_back(predicted("good", 5, {4.5, 5.5}));
  for (CellRecord& record : records)
    if (record.cell.kind == "train") record.cell.settings["optimiser.rate"] = "0.1";
  const Analysis found = analyse(records, study_with(0.1));
  EXPECT_EQ(found.answer.measured.yes, 0);
  EXPECT_EQ(found.answer.predicted.yes, 1);
}

}  // namespace
}  // namespace narrowcast::test
