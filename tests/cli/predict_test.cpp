#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "plan/plan.hpp"
#include "predict/profile.hpp"
#include "tests/cli/json_lines.hpp"

namespace narrowcast::cli::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(Predict, HasALineForEachCodecAndNumberOfWorkers) {
  const auto lines =
      json_of({"predict", "--net", "resnet50", "--profile", "ethernet-1g", "--workers", "2..8",
               "--codec", "fp32,float:e=4,m=3,onebit:column=512", "--json"});
  ASSERT_EQ(9u, lines.size());
  EXPECT_EQ("float:e=4,m=3", lines[1]["codec"]);
  EXPECT_EQ(8, lines[8]["workers"]);
  for (const auto& line : lines) {
    EXPECT_LE(line["low_ms"], line["step_ms"]);
    EXPECT_GE(line["high_ms"], line["step_ms"]);
    EXPECT_GE(line["over_fp32"].get<double>(), 0.999);  // on so slow a network
  }
  EXPECT_EQ(1, lines[0]["over_fp32"]);
}

TEST(Predict, SaysWhatAnHourOfAWorkerCostsWhereThatIsKnown) {
  const auto priced = json_of({"predict", "--profile", "ec2-k80", "--workers", "2", "--json"});
  EXPECT_DOUBLE_EQ(14.4 / 16, priced.at(0)["price"].get<double>());
  const auto unknown = json_of({"predict", "--profile", "dgx1-p100", "--workers", "2", "--json"});
  EXPECT_TRUE(unknown.at(0)["price"].is_null());
}

TEST(Predict, ShowsATableAndWhereCodecsBreakEven) {
  const Outcome outcome =
      run_command({"predict", "--net", "alexnet", "--profile", "ethernet-10g", "--workers", "4"});
  EXPECT_EQ(0, outcome.code);
  EXPECT_THAT(outcome.out, StartsWith("alexnet, batch 32 a worker, data parallelism"));
  EXPECT_THAT(outcome.out, HasSubstr("while links are slower than"));
  EXPECT_THAT(outcome.out, HasSubstr("Gbit/s"));
}

TEST(Predict, WritesAPage) {
  const TemporaryFolder folder;
  const std::string page = (folder / "page.html").string();
  EXPECT_EQ(0, run_command({"predict", "--html", page}).code);
  EXPECT_THAT(contents(page), StartsWith("<!doctype html>"));
  EXPECT_THAT(contents(page), HasSubstr("<canvas"));
}

TEST(Predict, RefusesWhatIsNotThere) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"predict", "--net", "resnet51"},
                                             {"predict", "--profile", "ethernet-11g"},
                                             {"predict", "--workers", "0"},
                                             {"predict", "--workers", "2..x"},
                                             {"predict", "--codec", "dynamic9"},
                                             {"predict", "--algorithm", "rings"},
                                             {"predict", "--parallel", "both"},
                                             {"predict", "--batch", "-3"},
                                             {"advise", "--max-error", "0"},
                                             {"advise", "--workers", "1"},
                                             {"calibrate", "--workers", "1"},
                                             {"calibrate", "--net", "resnet51"},
                                             {"calibrate", "--net", "lstm", "--net", "lstm"},
                                             {"calibrate", "--codec", "dynamic9"},
                                             {"calibrate", "--codec", "fp16,dynamic8,fp16"},
                                             {"calibrate", "--seconds", "0"}})
    expect_refusal(run_command(words), 2);
}

TEST(Advise, SaysToCompressWhereItPays) {
  const auto lines =
      json_of({"advise", "--net", "vgg19", "--profile", "ethernet-1g", "--workers", "8", "--json"});
  ASSERT_EQ(1u, lines.size());
  EXPECT_EQ("compress", lines[0]["verdict"]);
  EXPECT_GT(lines[0]["gain_low"], 1);
}

TEST(Advise, SaysNotToWhereItDoesNot) {
  const Outcome outcome =
      run_command({"advise", "--net", "resnet20", "--profile", "h100-node", "--workers", "2"});
  EXPECT_EQ(0, outcome.code) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("\nDo not compress: "));
}

TEST(Advise, WritesThePlan) {
  const TemporaryFolder folder;
  const std::string file = (folder / "plan.toml").string();
  EXPECT_EQ(0, run_command({"advise", "--net", "vgg19", "--profile", "ethernet-1g", "--codec",
                            "dynamic8", "-o", file})
                   .code);
  EXPECT_EQ("dynamic8", read_plan(file).rules.back().way.codec);
}

TEST(Calibrate, WritesAProfileToPredictFrom) {
  const TemporaryFolder folder;
  const std::string file = (folder / "here.toml").string();
  const Outcome outcome =
      run_command({"calibrate", "--transport", "inproc", "--workers", "2", "--codec",
                   "fp32,dynamic8", "--seconds", "0.05", "-o", file});
  EXPECT_EQ(0, outcome.code) << outcome.err;
  const Profile profile = find_profile(file);
  EXPECT_EQ(2, profile.machine_workers);
  EXPECT_EQ(2u, profile.codecs.size());
  EXPECT_GT(profile.machine.bandwidth, 0);
}

}  // namespace
}  // namespace narrowcast::cli::test
