#include <gmock/gmock.h>

#include <array>
#include <cstdio>
#include <memory>

#include "tests/cli/run_command.hpp"

namespace narrowcast::cli::test {
namespace {

using testing::HasSubstr;
using testing::Not;

// What bash offers after these words.
std::string completed(const std::string& words, int last) {
  const TemporaryFolder folder;
  const std::string script = (folder / "script").string();
  write_contents(script, run_command({"completion", "bash"}).out);
  const std::string command = "bash -c 'source " + script + "; COMP_WORDS=(narrowcast " + words +
                              "); COMP_CWORD=" + std::to_string(last) +
                              "; _narrowcast; echo \" ${COMPREPLY[*]} \"' 2>&1";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string text;
  std::array<char, 256> some;
  while (fgets(some.data(), some.size(), pipe.get()) != nullptr) text += some.data();
  return text;
}

TEST(Completion, OffersCommandsAndTheirSecondWords) {
  EXPECT_EQ(" study \n", completed("stu", 1));
  EXPECT_EQ(" run report \n", completed("study r", 2));
  EXPECT_EQ(" allreduce \n", completed("errors allr", 2));
}

TEST(Completion, OffersTheOptionsOfTheCommand) {
  EXPECT_EQ(" --most \n", completed("study run --mo", 3));
  EXPECT_EQ(" --fusion \n", completed("predict --fu", 2));
  EXPECT_THAT(completed("train --", 2), HasSubstr(" --checkpoint "));
  EXPECT_THAT(completed("codecs --", 2), Not(HasSubstr("--checkpoint")));
}

TEST(Completion, OffersNamesWhereThereIsAList) {
  EXPECT_EQ(" dynamic8 \n", completed("train --codec dyn", 3));
  EXPECT_EQ(" resnet20 \n", completed("train --workers 2 --net resnet2", 5));
  EXPECT_EQ(" ec2-k80 \n", completed("predict --profile ec2", 3));
}

// Nothing, so that the shell offers files.
TEST(Completion, LeavesOtherValuesToTheShell) {
  for (const char* words : {"study run --from", "study run a.toml -o", "study run --most"})
    EXPECT_EQ("  \n", completed(words + std::string(" \"\""), words[10] == 'a' ? 5 : 4)) << words;
  for (const char* words : {"inspect \"\"", "decode \"\"", "curves \"\"", "study run \"\""})
    EXPECT_EQ("  \n", completed(words, words[0] == 's' ? 3 : 2)) << words;
  EXPECT_EQ("  \n", completed("encode dynamic8 grad", 3));
}

TEST(Completion, OffersOptionsWhereTheyAreAskedForOrNothingElseIsExpected) {
  EXPECT_EQ(" --help \n", completed("inspect --he", 2));
  EXPECT_THAT(completed("study run --check -", 4), HasSubstr(" --most "));
  EXPECT_THAT(completed("train \"\"", 2), HasSubstr(" --workers "));
}

TEST(Completion, OffersCodecsWhereOneStands) {
  EXPECT_EQ(" dynamic8 \n", completed("encode dyn", 2));
  EXPECT_EQ(" qsgd \n", completed("bench codec qs", 3));
  EXPECT_EQ(" allreduce \n", completed("errors allr", 2));
  EXPECT_EQ(" d16-node \n", completed("predict paper d16-n", 3));
  EXPECT_THAT(
      run_command({"completion", "fish"}).out,
      HasSubstr("complete -c narrowcast -n '__fish_seen_subcommand_from encode' -a 'fp32 "));
}

TEST(Completion, OffersShellsCommandsAndWaysToAddUp) {
  EXPECT_EQ(" bash zsh fish \n", completed("completion \"\"", 2));
  EXPECT_EQ(" study \n", completed("help stu", 2));
  EXPECT_EQ(" auto \n", completed("train --codec au", 3));
  EXPECT_EQ(" hierarchy \n", completed("bench allreduce --algorithm hier", 4));
}

TEST(Completion, KnowsOtherShellsAndRefusesTheRest) {
  EXPECT_THAT(run_command({"completion", "zsh"}).out, HasSubstr("bashcompinit"));
  EXPECT_THAT(run_command({"completion", "fish"}).out,
              HasSubstr("complete -c narrowcast -n '__fish_seen_subcommand_from study; and "
                        "__fish_seen_subcommand_from run' -l most"));
  // What was said already is not offered again.
  EXPECT_THAT(run_command({"completion", "fish"}).out,
              HasSubstr("complete -c narrowcast -n '__fish_seen_subcommand_from data; and not "
                        "__fish_seen_subcommand_from pack info' -a 'pack info'\n"));
  // A zsh without settings of its own has no completion that could be added to.
  EXPECT_THAT(run_command({"completion", "zsh"}).out, HasSubstr("compinit && compinit;"));
  expect_refusal(run_command({"completion", "csh"}), 2);
}

}  // namespace
}  // namespace narrowcast::cli::test
