#include "study/curves.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "tests/support/check.hpp"

namespace narrowcast::test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kConfig =
    R"({"event":"config","net":"mnist-mlp","data":"mnist","parallel":"data","workers":2,"seed":1,)"
    R"("link":"","commit":"abc","settings":"epochs = 2\n"})"
    "\n";

std::string epoch_line(int epoch, double error, double sent) {
  return R"({"event":"epoch","epoch":)" + std::to_string(epoch) +
         R"(,"train_loss":0.5,"test_error":)" + std::to_string(error) +
         R"(,"images_per_s":100,"step_ms":1,"compute_ms":1,"wait_ms":0,"overlap":1,"wire_bytes":)" +
         std::to_string(sent) + R"(,"fp32_bytes":400})" + "\n";
}

class Records : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(file_); }

  RunRecord read(const std::string& text) const {
    std::ofstream(file_) << text;
    return read_run(file_);
  }

  std::filesystem::path file_ =
      std::filesystem::path(testing::TempDir()) /
      (std::string(testing::UnitTest::GetInstance()->current_test_info()->name()) + ".jsonl");
};

TEST_F(Records, AreReadBack) {
  const RunRecord run =
      read(std::string(kConfig) + epoch_line(1, 12.5, 100) + epoch_line(2, 11, 100));
  EXPECT_EQ("mnist-mlp", run.net);
  EXPECT_EQ(2, run.workers);
  EXPECT_EQ(2u, run.epochs.size());
  EXPECT_EQ(11, run.last_error());
  EXPECT_EQ(200, run.wire_bytes());
  EXPECT_EQ(800, run.fp32_bytes());
}

TEST_F(Records, CountAnEpochOnceThatARestartRepeats) {
  const RunRecord run = read(std::string(kConfig) + epoch_line(1, 12, 1) + epoch_line(2, 11, 1) +
                             R"({"event":"fault","text":"rank 1 died","restart":1})"
                             "\n" +
                             epoch_line(2, 10, 1));
  EXPECT_EQ(2u, run.epochs.size());
  EXPECT_EQ(10, run.last_error());
  EXPECT_EQ(std::vector<std::string>{"rank 1 died"}, run.faults);
}

TEST_F(Records, PassOverALineThatWasCutOff) {
  const std::string cut = epoch_line(2, 11, 1);
  const RunRecord run =
      read(std::string(kConfig) + epoch_line(1, 12, 1) + cut.substr(0, cut.size() / 2));
  EXPECT_EQ(1u, run.epochs.size());
}

TEST_F(Records, RefuseWhatIsNoRun) {
  EXPECT_EQ(Fault::wire, fault_of([&] { read("{\"event\":1}\n"); }));
  EXPECT_EQ(Fault::wire, fault_of([&] { read("not json\n"); }));
  EXPECT_EQ(Fault::wire, fault_of([&] { read(epoch_line(1, 1, 1)); }));
  EXPECT_EQ(Fault::wire, fault_of([&] { read(std::string(kConfig) + epoch_line(0, 1, 1)); }));
  EXPECT_EQ(Fault::system, fault_of([&] { read_run(file_ / "nowhere"); }));
}

TEST_F(Records, BecomeAChartWithALetterForEachRun) {
  RunRecord a = read(std::string(kConfig) + epoch_line(1, 12, 1) + epoch_line(2, 11, 1));
  RunRecord b = a;
  a.label = "first";
  b.label = "second";
  b.epochs[1].test_error = 8;
  const std::vector<RunRecord> runs = {a, b};
  const std::string text = curves_text(runs, Measure::test_error);
  EXPECT_THAT(text, HasSubstr("a: first"));
  EXPECT_THAT(text, HasSubstr("b: second"));
  EXPECT_THAT(text, HasSubstr("*: several"));  // they start together
}

TEST_F(Records, BecomeAPageThatNeedsNothingElse) {
  RunRecord run = read(std::string(kConfig) + epoch_line(1, 12, 1) + epoch_line(2, 11, 1));
  run.label = "</script><b>";
  const std::string page = curves_page(std::span(&run, 1), "A & B");
  EXPECT_THAT(page, HasSubstr("A &amp; B"));
  EXPECT_THAT(page, Not(HasSubstr("</script><b>")));
  EXPECT_THAT(page, Not(HasSubstr("src=")));
  EXPECT_THAT(page, HasSubstr("<canvas"));
  EXPECT_THAT(page, HasSubstr("Chart.js v3."));
}

}  // namespace
}  // namespace narrowcast::test
