#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "study/folder.hpp"
#include "tests/cli/json_lines.hpp"
#include "tests/support/temporary_folder.hpp"

namespace narrowcast::cli::test {
namespace {

using narrowcast::test::TemporaryFolder;
using testing::HasSubstr;

CellRecord trained(const std::string& codec, int seed, std::optional<double> error) {
  CellRecord record = {
      .study = "s",
      .cell = {.kind = "train",
               .axes = {{"net", "mnist-mlp"}, {"codec", codec}, {"seed", std::to_string(seed)}}}};
  record.state = error ? CellState::done : CellState::failed;
  if (error) record.values = {{"last_error", *error}, {"best_error", *error}};
  return record;
}

// A codec that fails for some seeds is not as good as one that never does, whatever the other seeds gave.
TEST(StudyCompare, SaysHowManyRunsLeftNoError) {
  const TemporaryFolder at;
  StudyFolder folder(at / "folder");
  for (int seed = 1; seed <= 3; ++seed) {
    folder.add(trained("fp32", seed, 1.5 + 0.01 * seed));
    folder.add(
        trained("dynamic8", seed, seed < 3 ? std::optional(1.51 + 0.02 * seed) : std::nullopt));
  }
  const std::vector<std::string> words = {"study",    "compare", "fp32",
                                          "dynamic8", "--in",    (at / "folder").string()};
  EXPECT_THAT(run_command(words).out, HasSubstr(", 1 without"));
  std::vector<std::string> json = words;
  json.emplace_back("--json");
  const auto lines = json_of(json);
  ASSERT_EQ(1u, lines.size());
  EXPECT_EQ(0, lines[0]["a_missing"]);
  EXPECT_EQ(1, lines[0]["b_missing"]);
  EXPECT_EQ("too little", lines[0]["error"]["judgement"]);
}

}  // namespace
}  // namespace narrowcast::cli::test
