#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/cli/json_lines.hpp"

namespace narrowcast::cli::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// In the order in which they are printed.
std::vector<nlohmann::ordered_json> figures_of(std::vector<std::string> words) {
  words.insert(words.begin(), {"predict", "paper"});
  words.emplace_back("--json");
  return json_of<nlohmann::ordered_json>(words);
}

std::vector<std::string> keys_of(const nlohmann::ordered_json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  return keys;
}

TEST(PredictPaper, PutsEachFigureBesideThePrintedOne) {
  const auto lines = figures_of({"d16-node"});
  ASSERT_EQ(4u, lines.size());
  for (const auto& line : lines) {
    EXPECT_THAT(keys_of(line), ElementsAre("model", "quantity", "setting", "bits", "batch",
                                           "printed", "computed"));
    EXPECT_EQ("d16-node", line["model"]);
    EXPECT_EQ("speedup", line["quantity"]);
    EXPECT_EQ(line["printed"].get<double>(),
              std::round(line["computed"].get<double>() * 100) / 100);
  }
}

TEST(PredictPaper, SaysNullWhereThePaperIsSilent) {
  const auto lines = figures_of({"a20-steps"});
  ASSERT_EQ(6u, lines.size());
  EXPECT_EQ(510, lines[0]["printed"]);
  EXPECT_EQ(510, lines[0]["computed"]);
  EXPECT_TRUE(lines[0]["batch"].is_null());
  EXPECT_TRUE(lines[1]["printed"].is_null());
  EXPECT_EQ(138, lines[1]["computed"]);
}

TEST(PredictPaper, ShowsBothModesOfTheCluster) {
  int both = 0;
  for (const auto& line : figures_of({"d16-cluster", "--corrected"})) {
    ASSERT_TRUE(line.contains("corrected")) << line;
    const bool computes = line["computed"].is_number();
    const bool corrects = line["corrected"].is_number();
    EXPECT_TRUE(computes || corrects) << line;
    EXPECT_TRUE(computes || line["printed"].is_null()) << line;
    if (computes && corrects) ++both;
    if (line["quantity"] != "total ms" || line["bits"] != 8 || line["batch"] != 2048) continue;
    EXPECT_EQ(100, line["printed"]);
    EXPECT_NEAR(100, line["computed"].get<double>(), 0.5);
    EXPECT_GT(line["corrected"].get<double>(), 150);
  }
  EXPECT_EQ(48, both);
}

TEST(PredictPaper, SaysWhatTheModelIsAndHowFarOffItIs) {
  const Outcome outcome = run_command({"predict", "paper", "a20-steps"});
  EXPECT_EQ(0, outcome.code) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("a20-steps: steps of an all-reduce"));
  EXPECT_THAT(outcome.out, HasSubstr("+21.6"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("Mended")));
}

TEST(PredictPaper, ListsInWordsWhatItMended) {
  const Outcome outcome = run_command({"predict", "paper", "d16-cluster", "--corrected"});
  EXPECT_EQ(0, outcome.code) << outcome.err;
  for (const char* part :
       {"corrected\n", "a quarter", "0.10 and 0.05 ns", "b=2048 has its own", "fc by b", "Left:"})
    EXPECT_THAT(outcome.out, HasSubstr(part));
  EXPECT_THAT(run_command({"predict", "paper", "a20-steps", "--corrected"}).out,
              HasSubstr("90 steps by the paper's own formula, not 74"));
}

TEST(PredictPaper, FitsATerminal) {
  for (const char* model : {"d16-node", "d16-cluster", "a20-steps"})
    for (const std::string& line :
         lines_of(run_command({"predict", "paper", model, "--corrected"}).out))
      EXPECT_LE(line.size(), 100u) << line;
}

TEST(PredictPaper, RefusesAModelThatIsInNoPaper) {
  const Outcome outcome = run_command({"predict", "paper", "d17-node"});
  expect_refusal(outcome, 2);
  EXPECT_THAT(outcome.err, HasSubstr("there are: d16-node, d16-cluster, a20-steps"));
  expect_refusal(run_command({"predict", "paper"}), 2);
  expect_refusal(run_command({"predict", "paper", "d16-node", "a20-steps"}), 2);
}

}  // namespace
}  // namespace narrowcast::cli::test
