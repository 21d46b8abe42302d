#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "study/cell.hpp"
#include "tests/cli/run_command.hpp"
#include "tests/support/places.hpp"

namespace narrowcast::cli::test {
namespace {

std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words;
  std::istringstream in{std::string(name)};
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

std::vector<std::string> with(std::vector<std::string> words, std::vector<std::string> more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(EveryCommand, StartsItsHelpWithExamples) {
  for (const Command& command : commands()) {
    for (const char* help : {"--help", "-h"}) {
      const Outcome outcome = run_command(with(words_of(command.name), {help}));
      EXPECT_EQ(0, outcome.code) << command.name;
      EXPECT_EQ("", outcome.err) << command.name;
      const std::string start = "Examples:\n  narrowcast " + std::string(command.name);
      EXPECT_EQ(start, outcome.out.substr(0, start.size())) << command.name;
      EXPECT_NE(std::string::npos, outcome.out.find("Usage: narrowcast")) << command.name;
    }
  }
}

TEST(EveryCommand, IsIntroducedByExamplesInTheOverview) {
  for (const std::vector<std::string>& asked :
       std::vector<std::vector<std::string>>{{"--help"}, {"bench", "--help"}, {"data", "--help"}}) {
    const Outcome outcome = run_command(asked);
    EXPECT_TRUE(outcome.out.starts_with("Examples:\n  narrowcast ")) << outcome.out;
  }
}

TEST(EveryCommand, HasExamplesOfItself) {
  for (const Command& command : commands())
    for (const std::string& line : lines_of(std::string(command.examples)))
      EXPECT_TRUE(line.starts_with("narrowcast " + std::string(command.name))) << line;
}

TEST(EveryCommand, IsListedInTheOverview) {
  const Outcome outcome = run_command({"--help"});
  EXPECT_EQ(0, outcome.code);
  for (const Command& command : commands()) {
    EXPECT_NE(std::string::npos, outcome.out.find(command.name)) << command.name;
    EXPECT_NE(std::string::npos, outcome.out.find(command.summary)) << command.name;
  }
}

TEST(EveryCommand, RefusesUnknownOptionsInOneLine) {
  for (const Command& command : commands()) {
    SCOPED_TRACE(command.name);
    const Outcome outcome = run_command(with(words_of(command.name), {"--frobnicate"}));
    expect_refusal(outcome, 2);
    EXPECT_NE(std::string::npos, outcome.err.find("--frobnicate"));
  }
}

// The quickest way to let each command that has --json say something.
struct QuickRun {
  std::vector<std::string> words;
  std::string input;
};

// Ranks that are threads, whose output is that of the test.
QuickRun quick_ranks(std::vector<std::string> more = {}) {
  return {with({"--transport", "inproc", "-b", "1K", "-e", "4K", "-n", "2", "-w", "0"}, more), ""};
}

// Five JPEGs of one class, of which one is for tests.
QuickRun quick_pack() {
  static const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "in/orange");
  for (const char* name : {"1.jpg", "2.jpg", "3.jpg", "4.jpg", "5.jpg"})
    write_contents(folder / "in/orange" / name,
                   contents(narrowcast::test::golden_folder() / "data/orange-8x8.jpg"));
  return {{(folder / "in").string(), "-o", (folder / "pack").string()}, ""};
}

// One codec beside fp32, two seeds each.
std::string quick_records() {
  static const TemporaryFolder folder;
  std::string lines;
  for (const char* codec : {"fp32", "dynamic8"})
    for (const char* seed : {"1", "2"}) {
      CellRecord record = {.study = "quick",
                           .cell = {.kind = "train", .axes = {{"codec", codec}, {"seed", seed}}}};
      record.values["last_error"] = 1.5;
      lines += to_json(record);
    }
  write_contents(folder / "records.jsonl", lines);
  return (folder / "records.jsonl").string();
}

std::map<std::string, QuickRun> quick_runs() {
  const std::string frame = run_command({"encode", "fp32"}, bytes_of({1, 2, 3})).out;
  return {
      {"codecs", {{}, ""}},
      {"inspect", {{}, frame}},
      {"compare", {{"--values", "1000", "--min-time", "0"}, ""}},
      {"errors", {{"--samples", "1000"}, ""}},
      {"bench codec", {{"fp32", "bf16", "--sizes", "1000,2K", "--min-time", "0"}, ""}},
      {"errors allreduce", {{"--ranks", "6", "--values", "100"}, ""}},
      {"bench allreduce", quick_ranks({"--algorithm", "auto", "--workers", "3"})},
      {"bench allgather", quick_ranks()},
      {"bench reducescatter", quick_ranks()},
      {"bench broadcast", quick_ranks()},
      {"bench sendrecv", quick_ranks()},
      {"bench transfer", quick_ranks()},
      {"data pack", quick_pack()},
      {"data info", {{"synthetic"}, ""}},
      {"nets", {{}, ""}},
      {"predict paper", {{"d16-cluster", "--corrected"}, ""}},
      {"predict", {{"--workers", "2..8"}, ""}},
      {"advise", {{"--net", "resnet50"}, ""}},
      {"study list", {{quick_records()}, ""}},
      {"study compare", {{"fp32", "dynamic8", "--in", quick_records()}, ""}},
      {"doctor", {{}, ""}},
  };
}

TEST(EveryCommand, PrintsJsonLinesThatParse) {
  const auto runs = quick_runs();
  for (const Command& command : commands()) {
    SCOPED_TRACE(command.name);
    const std::string help = run_command(with(words_of(command.name), {"--help"})).out;
    const auto quick = runs.find(std::string(command.name));
    // Where it takes a file, tests/processes read it.
    const bool prints_json =
        help.find("--json") != std::string::npos && help.find("--json FILE") == std::string::npos;
    ASSERT_EQ(prints_json, quick != runs.end());
    if (quick == runs.end()) continue;
    const Outcome outcome = run_command(
        with(with(words_of(command.name), quick->second.words), {"--json"}), quick->second.input);
    EXPECT_EQ(0, outcome.code) << outcome.err;
    EXPECT_EQ("", outcome.err);
    ASSERT_TRUE(outcome.out.ends_with("\n"));
    for (const std::string& line : lines_of(outcome.out))
      EXPECT_TRUE(nlohmann::json::parse(line, nullptr, false).is_object()) << line;
  }
}

TEST(EveryCommand, PrintsTablesWithoutColoursOrTrailingBlanks) {
  for (const auto& [name, quick] : quick_runs()) {
    SCOPED_TRACE(name);
    const Outcome outcome = run_command(with(words_of(name), quick.words), quick.input);
    EXPECT_EQ(0, outcome.code) << outcome.err;
    EXPECT_EQ("", outcome.err);
    EXPECT_EQ(std::string::npos, outcome.out.find('\x1b'));
    EXPECT_EQ(std::string::npos, outcome.out.find(" \n"));
  }
}

TEST(Program, SaysItsVersion) {
  const Outcome outcome = run_command({"--version"});
  EXPECT_EQ(0, outcome.code);
  EXPECT_TRUE(outcome.out.starts_with("narrowcast ")) << outcome.out;
  for (const char* part : {"commit ", "CPU target"})
    EXPECT_NE(std::string::npos, outcome.out.find(part)) << outcome.out;
}

TEST(Program, SuggestsTheCommandThatWasMeant) {
  const Outcome outcome = run_command({"encod"});
  expect_refusal(outcome, 2);
  EXPECT_NE(std::string::npos, outcome.err.find("did you mean 'encode'?")) << outcome.err;
}

TEST(Program, SuggestsTheOptionThatWasMeant) {
  const Outcome outcome = run_command({"encode", "fp32", "--sed", "3"});
  expect_refusal(outcome, 2);
  EXPECT_NE(std::string::npos, outcome.err.find("did you mean '--seed'?")) << outcome.err;
}

TEST(Program, SuggestsNothingForSomethingElse) {
  const Outcome outcome = run_command({"frobnicate"});
  expect_refusal(outcome, 2);
  EXPECT_EQ(std::string::npos, outcome.err.find("did you mean")) << outcome.err;
}

TEST(Program, RefusesBadWords) {
  expect_refusal(run_command({}), 2);
  expect_refusal(run_command({""}), 2);
  expect_refusal(run_command({"--frobnicate"}), 2);
  expect_refusal(run_command({"bench"}), 2);
  expect_refusal(run_command({"bench", "frobnicate"}), 2);
  expect_refusal(run_command({"codecs", "extra"}), 2);
  expect_refusal(run_command({"codecs", "--json", "--markdown"}), 2);
}

TEST(Program, SaysWhichWordItDoesNotTake) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> refusals = {
      {{"bench", "codec", "--threads", "x"}, "option --threads takes a number, not 'x'"},
      {{"bench", "codec", "--threads", "2x"}, "option --threads takes a number, not '2x'"},
      {{"bench", "codec", "--min-time", "soon"}, "option --min-time takes a number, not 'soon'"},
      {{"bench", "codec", "--sizes", "1.5M"}, "'1.5M' is not a count of values"},
      {{"bench", "codec", "--sizes", ""}, "option --sizes takes LIST, not an empty word"},
      {{"errors", "--dist", ""}, "option --dist takes LIST, not an empty word"},
      {{"encode", "fp32", "--shape", ""}, "option --shape takes A,B,..., not an empty word"},
      {{"encode", "fp32", "--seed", "--seed"}, "option --seed is given twice"},
      {{"encode", "fp32", "--seed", "1", "--seed=2"}, "option --seed is given twice"},
      {{"encode", "fp32", "-oa", "--output", "b"}, "option --output is given twice"},
      {{"encode", "fp32", "--seed"}, "option --seed needs a value: N"},
      {{"encode", "fp32", "--seed", "FILE"}, "'FILE' is not a seed"},
      {{"encode", "fp32", "--seed", "-1"}, "'-1' is not a seed"},
      {{"encode", "fp32", "--seed="}, "option --seed needs a value: N"},
      {{"encode", "fp32", "--seed", "-o", "a"}, "option --seed needs a value: N"},
  };
  for (const auto& [words, message] : refusals) {
    const Outcome outcome = run_command(words);
    expect_refusal(outcome, 2);
    EXPECT_TRUE(outcome.err.starts_with("narrowcast: " + message)) << outcome.err;
  }
}

TEST(Program, PrintsNoControlCharactersInErrors) {
  const Outcome outcome = run_command({"decode", "/no/\x1b[31m\nsuch\x7f"});
  expect_refusal(outcome, 5);
  EXPECT_NE(std::string::npos, outcome.err.find(R"(/no/\x1b[31m\x0asuch\x7f)")) << outcome.err;
}

TEST(Program, HelpsAlsoByCommand) {
  EXPECT_EQ(run_command({"--help"}).out, run_command({"help"}).out);
  EXPECT_EQ(run_command({"bench", "--help"}).out, run_command({"help", "bench"}).out);
  for (const Command& command : commands()) {
    const Outcome outcome = run_command(with({"help"}, words_of(command.name)));
    EXPECT_EQ(0, outcome.code) << command.name;
    EXPECT_EQ(run_command(with(words_of(command.name), {"--help"})).out, outcome.out);
  }
  expect_refusal(run_command({"help", "frobnicate"}), 2);
}

TEST(Program, ListsItsExitCodes) {
  EXPECT_NE(std::string::npos, run_command({"--help"}).out.find("Exit codes: 0 "));
}

TEST(Program, ListsTheCommandsOfAGroup) {
  const Outcome outcome = run_command({"bench", "--help"});
  EXPECT_EQ(0, outcome.code);
  EXPECT_NE(std::string::npos, outcome.out.find("bench codec"));
  EXPECT_EQ(std::string::npos, outcome.out.find("inspect"));
}

}  // namespace
}  // namespace narrowcast::cli::test
