#include "study/report.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "tests/study/made_records.hpp"

namespace narrowcast::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// Two codecs that are quicker than fp32, one of which costs accuracy; a prediction of each.
Records some_records() {
  Records records;
  add_trained(records, "fp32", {1.60, 1.62, 1.58, 1.61, 1.59});
  add_trained(records, "dynamic8", {1.61, 1.60, 1.59, 1.60, 1.60});
  add_trained(records, "onebit", {3.60, 3.70, 3.55, 3.62, 3.61});
  add_timed(records, "fp32", {20, 20.2, 19.9});
  add_timed(records, "dynamic8", {10, 10.1, 9.9});
  add_timed(records, "onebit", {5, 5.1, 4.9});
  records.push_back(predicted("fp32", 21, {18, 24}));
  records.push_back(predicted("dynamic8", 11, {8, 12}));
  for (CellRecord& record : records) {
    record.started = "2026-03-01T10:00:00Z";
    record.commands = {"narrowcast train --json -"};
    record.machine.name = "3f2a9c01";
    record.commit = "7ecad22";
  }
  return records;
}

std::string content(const std::vector<ReportFile>& files, std::string_view name) {
  const auto found = std::ranges::find(files, name, &ReportFile::name);
  return found == files.end() ? "no " + std::string(name) : found->content;
}

// Of a page, what people read: without scripts and their data.
std::string body_of(const std::string& html) {
  std::string body;
  for (std::size_t at = html.find("<body>"); at != std::string::npos;) {
    const std::size_t script = html.find("<script", at);
    body += html.substr(at, script - at);
    const std::size_t end = html.find("</script>", script);
    at = end == std::string::npos ? end : end + 9;
  }
  return body;
}

TEST(AReport, AnswersFirst) {
  const auto files = write_report(study_with(0.2), some_records());
  const std::string body = body_of(content(files, "report.html"));
  EXPECT_LT(body.find("Yes in 1 of 2 measured settings"), body.find("<nav"));
  EXPECT_THAT(body, HasSubstr("2.00 times as quick as fp32"));
  EXPECT_THAT(content(files, "report.md"), HasSubstr("**Yes in 1 of 2 measured settings"));
  EXPECT_THAT(content(files, "answer.csv"), HasSubstr("\r\nyes,"));
}

TEST(AReport, DoesNotSayYesWhenSeedsFailed) {
  Records records = some_records();
  for (CellRecord& record : records)
    if (record.cell.kind == "train" && record.cell.at("codec") == "dynamic8" &&
        record.cell.at("seed") > "3") {
      record.state = CellState::failed;
      record.message = "it diverged";
    }
  const auto files = write_report(study_with(0.2), records);
  const std::string body = body_of(content(files, "report.html"));
  EXPECT_THAT(body, Not(HasSubstr("Yes in")));
  EXPECT_THAT(body, HasSubstr("Quicker, yes: in 1 of 2 measured settings"));
  EXPECT_THAT(body, HasSubstr("2 runs failed and 0 left no error that is a number."));
  EXPECT_THAT(content(files, "accuracy.csv"),
              AllOf(HasSubstr(",failed (seeds),"), HasSubstr(",too little data,too little data,3,"),
                    HasSubstr(",2,,mnist,")));
}

TEST(AReport, TellsUnclearTimesFromTooFew) {
  Records records;
  add_timed(records, "fp32", {20, 20.2, 19.9});
  add_timed(records, "shaky", {12, 19, 31});
  const auto unclear = write_report(study_with(0.2), records);
  EXPECT_THAT(body_of(content(unclear, "report.html")),
              HasSubstr("Not clear: in the only measured setting codecs were compared with fp32"));
  EXPECT_THAT(content(unclear, "answer.csv"), HasSubstr("\r\nunclear,"));
  for (CellRecord& record : records)
    if (record.cell.at("seed") != "1") record.others = 1;
  const auto few = write_report(study_with(0.2), records);
  EXPECT_THAT(body_of(content(few, "report.html")),
              HasSubstr("Too early to say: the only measured setting has too few quiet runs"));
  EXPECT_THAT(content(few, "answer.csv"), HasSubstr("\r\ntoo little data,1.6666666666666667,"));
}

TEST(AReport, SaysOfPredictionsWhatWasMeasuredOfTheirErrors) {
  Records records;
  records.push_back(predicted("fp32", 40, {38, 42}));
  records.push_back(predicted("crude", 10, {9, 11}));
  const auto answer = [&] {
    return body_of(content(write_report(study_with(0.2), records), "report.html"));
  };
  const std::string quicker = "In the only predicted setting some codec would be quicker than fp32";
  EXPECT_THAT(answer(), AllOf(HasSubstr(quicker), HasSubstr("to the error is not predicted.")));
  add_trained(records, "fp32", {1.2, 1.3, 1.25});
  add_trained(records, "crude", {5.1, 5.3, 5.2});
  EXPECT_THAT(answer(), AllOf(HasSubstr(quicker), HasSubstr("was measured to be worse.")));
}

// The same settings as the first sentence counts, also those of which nothing can be said yet.
TEST(AReport, CountsAllSettingsByAxis) {
  Records records;
  for (const char* parallel : {"data", "model"}) {
    Records some;
    add_timed(some, "fp32", {20, 20.2, 19.9});
    add_timed(some, "quick", {10, 10.1, 9.9});
    for (CellRecord& record : some) {
      record.cell.axes["parallel"] = parallel;
      if (parallel == std::string("model")) record.others = 1;
      records.push_back(record);
    }
  }
  const auto body = [&] {
    return body_of(content(write_report(study_with(0.2), records), "report.html"));
  };
  EXPECT_THAT(body(), HasSubstr("data parallel (1 of 1), model parallel (0 of 1, 1 undecided)"));
  for (CellRecord& record : records) record.others = 0;
  EXPECT_THAT(body(), HasSubstr("data parallel (1 of 1), model parallel (1 of 1)"));
}

TEST(AReport, SaysHowManyTimesInDigitsThatTell) {
  const auto lead_of = [](double factor) {
    Records records = some_records();
    for (CellRecord& record : records)
      if (record.cell.kind == "speed" && record.cell.at("codec") == "dynamic8")
        record.values["step_ms"] *= 2 / factor;
    return content(write_report(study_with(0.2), records), "report.md");
  };
  EXPECT_THAT(lead_of(1.04), HasSubstr("steps 1.04 times as quick as fp32"));
  EXPECT_THAT(lead_of(9.999), HasSubstr("steps 10 times as quick as fp32"));
  EXPECT_THAT(lead_of(150), HasSubstr("steps 150 times as quick as fp32"));
}

TEST(AReport, HasNoBarForWhatNotEverySeedReached) {
  Records records = some_records();
  for (CellRecord& record : records)
    if (record.cell.kind == "train" && record.cell.at("codec") == "dynamic8" &&
        record.cell.at("seed") == "2")
      record.epochs.front().test_error = 9;
  const auto files = write_report(study_with(0.2), records);
  EXPECT_THAT(content(files, "time-to-accuracy.csv"),
              AllOf(HasSubstr("4 of 5,1,1,1,1"), HasSubstr(",,,,,,4 of 5 only")));
  EXPECT_THAT(body_of(content(files, "report.html")),
              HasSubstr("A codec has no bar unless every seed came so far."));
}

TEST(AReport, SaysNothingOfGainsWithoutABaseline) {
  std::vector<CellRecord> records = some_records();
  std::erase_if(records,
                [](const CellRecord& record) { return record.cell.at("codec") == "fp32"; });
  const std::string body = body_of(content(write_report(study_with(0.2), records), "report.html"));
  EXPECT_THAT(body, HasSubstr("There is nothing to compare with fp32 yet."));
  EXPECT_THAT(body, Not(HasSubstr("quicker than fp32")));
}

TEST(AReport, HasACsvForEveryFigure) {
  const auto files = write_report(study_with(0.2), some_records());
  const std::string html = content(files, "report.html");
  for (const ReportFile& file : files)
    if (file.name.ends_with(".csv")) {
      EXPECT_THAT(html, HasSubstr("href=\"" + file.name + "\""));
      EXPECT_THAT(file.content, HasSubstr("\r\n"));
    }
  for (const std::string name : {"answer", "time-to-accuracy", "error-curves", "samples", "speedup",
                                 "accuracy", "anova", "prediction", "cells", "machines", "commits"})
    EXPECT_THAT(files, Contains(Field(&ReportFile::name, name + ".csv")));
}

TEST(AReport, JudgesErrorsAndTimes) {
  const auto files = write_report(study_with(0.2), some_records());
  EXPECT_THAT(content(files, "accuracy.csv"), AllOf(HasSubstr(",same,"), HasSubstr(",worse,")));
  EXPECT_THAT(content(files, "speedup.csv"), HasSubstr(",faster,"));
}

TEST(AReport, SaysWhatWasCutAndWhatHasNoData) {
  Study study = study_with(0.2);
  study.cuts = {"No GPU <here>."};
  study.about = "First.\n\nSecond.";
  const std::string body = body_of(content(write_report(study, some_records()), "report.html"));
  EXPECT_THAT(body, HasSubstr("<li>No GPU &lt;here&gt;.</li>"));
  EXPECT_THAT(body, HasSubstr("<p>First.</p>\n<p>Second.</p>"));
  EXPECT_THAT(body, HasSubstr("Left out for want of data: Parts of a step; Transfers by size;"));
}

TEST(AReport, OfNothingSaysSo) {
  const auto files = write_report(study_with(0), {});
  const std::string body = body_of(content(files, "report.html"));
  EXPECT_THAT(body, HasSubstr("There is nothing to compare with fp32 yet."));
  EXPECT_THAT(body, HasSubstr("0 of 0 cells done"));
  EXPECT_THAT(body, Not(HasSubstr("<figure")));
  EXPECT_EQ(2u, files.size());
}

TEST(AReport, OfFailuresListsThemWithTheirMessages) {
  CellRecord record = made_record("speed", "fp32", 1);
  record.state = CellState::failed;
  record.message = "peer: rank 1 <left>, \"gone\"";
  record.tries = 2;
  const auto files = write_report(study_with(0), std::vector{record});
  const std::string body = body_of(content(files, "report.html"));
  EXPECT_THAT(body, HasSubstr("0 of 1 cells done, 1 failed"));
  EXPECT_THAT(body, HasSubstr("<td>peer: rank 1 &lt;left&gt;, &quot;gone&quot;</td>"));
  EXPECT_LT(body.find("figure-failures"), body.find("figure-cells"));
  EXPECT_THAT(content(files, "failures.csv"), HasSubstr("\"peer: rank 1 <left>, \"\"gone\"\"\""));
}

// The baseline was measured, but while other programs were at work.
TEST(AReport, HasNoHeatMapOfBlanks) {
  Records records;
  add_timed(records, "fp32", {20, 20.2, 19.9});
  add_timed(records, "dynamic8", {10, 10.1, 9.9});
  const auto maps = [&](double others) {
    for (CellRecord& record : records)
      if (record.cell.at("codec") == "fp32") record.others = others;
    const auto files = write_report(study_with(0), records);
    return std::ranges::count(files, "speedup.csv", &ReportFile::name);
  };
  EXPECT_EQ(0, maps(1));
  EXPECT_EQ(1, maps(0));
}

TEST(AReport, SaysWhichMachinesHaveNoPrice) {
  Records records;
  for (const std::string profile : {"ec2-k80", "dgx1-p100", "h100-node"}) {
    CellRecord record = predicted("fp32", 21, {18, 24});
    record.cell.axes["profile"] = profile;
    record.cell.axes["batch"] = "32";
    if (profile != "h100-node") record.cell.settings["images"] = "1281167";
    if (profile == "ec2-k80") record.values["price"] = 0.9;
    records.push_back(record);
  }
  const std::string body = body_of(content(write_report(study_with(0), records), "report.html"));
  EXPECT_THAT(body, HasSubstr("Not here, because their profiles have no price: dgx1-p100."));
}

TEST(AReport, NeedsNothingFromAnywhere) {
  const std::string html = content(write_report(study_with(0), some_records()), "report.html");
  EXPECT_THAT(html, StartsWith("<!doctype html>"));
  EXPECT_THAT(html, HasSubstr("default-src 'none'"));
  EXPECT_THAT(html, HasSubstr("Chart.js v3."));
  for (const char* loads : {" src=\"", "<link rel=\"stylesheet\"", "@import", "url("})
    EXPECT_THAT(html, Not(HasSubstr(loads))) << loads;
}

TEST(AReport, IsTheSameOfTheSameRecords) {
  const Records records = some_records();
  const auto once = write_report(study_with(0.2), records);
  const auto again = write_report(study_with(0.2), records);
  ASSERT_EQ(once.size(), again.size());
  for (std::size_t i = 0; i < once.size(); ++i) EXPECT_EQ(once[i].content, again[i].content);
}

TEST(AReport, TellsSettingsApartThatHaveEqualAxes) {
  Records records = some_records();
  for (CellRecord record : some_records())
    if (record.cell.kind == "speed") {
      record.cell.settings["algorithm"] = "ring";
      records.push_back(record);
    }
  const std::string csv = content(write_report(study_with(0.2), records), "speedup.csv");
  EXPECT_THAT(csv, StartsWith("link,algorithm,codec,"));
  EXPECT_THAT(csv, HasSubstr("ring,dynamic8,"));
}

}  // namespace
}  // namespace narrowcast::test
