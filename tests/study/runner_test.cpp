#include "study/runner.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <fstream>

#include "tests/support/bytes_in_files.hpp"
#include "tests/support/fault_text.hpp"
#include "tests/support/temporary_folder.hpp"

namespace narrowcast::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kStudy = R"(
[[part]]
kind = "errors"
codec = ["dynamic8", "linear8", "bnb8"]
)";

class Notes final : public RunWatcher {
 public:
  void begins(const Cell& cell, const RunNews&) override { begun.emplace_back(cell.at("codec")); }
  void ended(const CellRecord& record, const RunNews& news) override {
    ended_.push_back(record);
    last = news;
  }
  std::vector<std::string> begun;
  std::vector<CellRecord> ended_;
  RunNews last;
};

// The program is a script, so that what it does is known.
class ARunner : public testing::Test {
 protected:
  void program(const std::string& script) const {
    const std::string path = (at_ / "program").string();
    std::ofstream(path) << "#!/bin/sh\necho \"$@\" >> " << (at_ / "calls").string() << "\n"
                        << script << "\n";
    ASSERT_EQ(0, chmod(path.c_str(), 0755));
  }

  RunResult run(RunOptions options = {}) {
    options.program = (at_ / "program").string();
    options.machine.cores = 2;
    return run_study(study_, folder_, options, notes_);
  }

  std::filesystem::path profile_file() const {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.profiles()))
      if (entry.path().extension() == ".toml") return entry.path();
    return {};
  }

  std::size_t calls() const {
    const std::string all = contents(at_ / "calls");
    return static_cast<std::size_t>(std::ranges::count(all, '\n'));
  }

  TemporaryFolder at_;
  Study study_ = parse_study(kStudy, "s.toml");
  StudyFolder folder_{at_ / "folder"};
  Notes notes_;
};

constexpr const char* kGood = R"(echo '{"codec":"x","mse":0.5}')";

TEST_F(ARunner, DoesEveryCellOnceAndThenNoneAgain) {
  program(kGood);
  const RunResult first = run();
  EXPECT_EQ(3u, first.done);
  EXPECT_EQ(0u, first.failed);
  EXPECT_EQ(3u, calls());
  EXPECT_THAT(notes_.begun, ElementsAre("dynamic8", "linear8", "bnb8"));
  const RunResult second = run();
  EXPECT_EQ(0u, second.done);
  EXPECT_EQ(3u, second.before);
  EXPECT_EQ(3u, calls());
}

TEST_F(ARunner, RecordsWhatTheCommandPrintedAndHowToRepeatIt) {
  program(kGood);
  run({.most = 1});
  const std::vector<CellRecord> records = folder_.records();
  ASSERT_EQ(1u, records.size());
  EXPECT_EQ(0.5, records[0].rows.at(0).numbers.at("mse"));
  EXPECT_THAT(records[0].commands,
              ElementsAre("narrowcast errors dynamic8 --dist normal --samples 1M --json"));
  EXPECT_EQ(1, records[0].tries);
}

TEST_F(ARunner, GoesOnWhereItStopped) {
  program(kGood);
  EXPECT_EQ(2u, run({.most = 2}).done);
  const RunResult rest = run();
  EXPECT_EQ(1u, rest.done);
  EXPECT_EQ(2u, rest.before);
  EXPECT_EQ(3u, calls());
}

TEST_F(ARunner, TriesAFailureOnceMoreAndRecordsItAndGoesOn) {
  program("echo 'narrowcast: the disk is full' >&2; exit 5");
  const RunResult result = run();
  EXPECT_EQ(3u, result.done);
  EXPECT_EQ(3u, result.failed);
  EXPECT_EQ(6u, calls());
  const std::vector<CellRecord> records = folder_.records();
  ASSERT_EQ(3u, records.size());
  EXPECT_EQ(CellState::failed, records[0].state);
  EXPECT_EQ("narrowcast: the disk is full", records[0].message);
  EXPECT_EQ(2, records[0].tries);
}

TEST_F(ARunner, RecordsWhatWasSaidWithinALaunchersFrame) {
  program("printf 'narrowcast: no such net\\nprimary job ended\\n-----\\n\\n' >&2; exit 5");
  run({.most = 1});
  EXPECT_EQ("narrowcast: no such net", folder_.records().at(0).message);
  program("printf 'no slots here\\n-----\\n' >&2; exit 5");
  run({.most = 1});
  EXPECT_EQ("no slots here", notes_.ended_.back().message);
}

TEST_F(ARunner, RecordsTheCauseAndNotWhatItDidToOtherRanks) {
  program(
      "printf 'rank 2: narrowcast: rank 0 left\\nrank 0: narrowcast: no room\\n"
      "rank 1: narrowcast: rank 0 left\\n' >&2; exit 5");
  run({.most = 1});
  EXPECT_EQ("rank 0: narrowcast: no room", folder_.records().at(0).message);
  program(
      "printf 'rank 0: narrowcast: rank 1 died\\nrank 2: narrowcast: rank 0 left\\n' >&2; exit 4");
  run({.most = 1});
  EXPECT_EQ("rank 0: narrowcast: rank 1 died", notes_.ended_.back().message);
}

TEST_F(ARunner, CountsWhatOthersHaveDoneMeanwhile) {
  program(kGood);
  CellRecord theirs{.study = "s", .cell = study_.cells[2]};
  theirs.state = CellState::done;
  const std::string draft = (at_ / "theirs.json").string();
  write_contents(draft, to_json(theirs));
  const std::string there = (at_ / "folder" / "cells" / (id_of(theirs.cell) + ".json")).string();
  program("cp " + draft + " " + there + "; " + kGood);
  run({.most = 1});
  EXPECT_EQ(2u, notes_.last.done);
}

TEST_F(ARunner, RecordsWhatAFailureTook) {
  program("exec sleep 600");
  run({.deadline = std::chrono::milliseconds(50), .most = 1});
  EXPECT_GE(folder_.records().at(0).seconds, 0.05);
}

TEST_F(ARunner, KeepsTheSecondTryWhenThatIsGood) {
  program("[ -e " + (at_ / "again").string() + " ] && " + kGood + " || { touch " +
          (at_ / "again").string() + "; exit 4; }");
  const RunResult result = run({.most = 1});
  EXPECT_EQ(0u, result.failed);
  EXPECT_EQ(2, folder_.records().at(0).tries);
}

TEST_F(ARunner, RecordsWhatIsNoJsonAsAFailure) {
  program("echo hello");
  EXPECT_EQ(1u, run({.most = 1}).failed);
}

TEST_F(ARunner, RecordsAnyMessageAsText) {
  program(R"(printf 'bad \377 byte, \033[31mred\n' >&2; exit 1)");
  EXPECT_EQ(3u, run().failed);
  EXPECT_EQ("bad ? byte, ?[31mred", folder_.records().at(0).message);
}

TEST_F(ARunner, RecordsAProgramThatCannotBeStarted) {
  std::ofstream(at_ / "program") << "no program";
  ASSERT_EQ(0, chmod((at_ / "program").c_str(), 0755));
  EXPECT_EQ(3u, run().failed);
  EXPECT_THAT(folder_.records().at(0).message, HasSubstr("cannot start"));
}

TEST_F(ARunner, KeepsNothingOfATryThatWasReadInPart) {
  study_ = parse_study("[[part]]\nkind = \"train\"\n", "s.toml");
  program(R"(echo '{"event":"epoch","epoch":1}')");
  EXPECT_EQ(1u, run().failed);
  EXPECT_THAT(folder_.records().at(0).message, HasSubstr("train_loss"));
  EXPECT_TRUE(folder_.records().at(0).epochs.empty());
}

// The profile is made when -o says where; a prediction is printed in any case.
constexpr const char* kCalibrates =
    R"(while [ $# -gt 0 ]; do [ "$1" = -o ] && echo x > "$2"; shift; done
echo '{"step_ms":5}')";

TEST_F(ARunner, CalibratesOnceForTheCellsThatShareIt) {
  study_ = parse_study(
      "[[part]]\nkind = \"predict\"\nnet = \"mnist-mlp\"\ncodec = [\"fp32\", \"dynamic8\"]\n",
      "s.toml");
  program(kCalibrates);
  run({.most = 1});
  EXPECT_EQ(2u, calls());
  const std::filesystem::path profile = profile_file();
  std::ofstream(profile.string() + ".others") << "0.125\n";
  run();
  EXPECT_EQ(3u, calls());
  std::vector<double> others;
  for (const CellRecord& record : folder_.records())
    if (record.cell.at("codec") == "dynamic8") others.push_back(record.others);
  EXPECT_THAT(others, ElementsAre(0.125));
}

TEST_F(ARunner, CalibratesAgainWhatWasMadeOnABusyMachineOrOnAnother) {
  study_ = parse_study(
      "[[part]]\nkind = \"predict\"\nnet = \"mnist-mlp\"\n"
      "codec = [\"fp32\", \"dynamic8\", \"linear8\"]\n",
      "s.toml");
  program(kCalibrates);
  run({.most = 1});
  std::ofstream(profile_file().string() + ".others") << "0.5\n";
  run({.most = 1});
  EXPECT_EQ(4u, calls());
  std::ofstream(profile_file().string() + ".others") << "0\n";
  RunOptions other{.most = 1};
  other.machine.name = "other";
  run(other);
  EXPECT_EQ(6u, calls());
}

// Whoever may write there could else have a file of this user's overwritten.
TEST_F(ARunner, FollowsNoLinkWhereItNotesHowBusyTheMachineWas) {
  study_ = parse_study(
      "[[part]]\nkind = \"predict\"\nnet = \"mnist-mlp\"\ncodec = [\"fp32\", \"dynamic8\"]\n",
      "s.toml");
  program(kCalibrates);
  run({.most = 1});
  const std::filesystem::path note = profile_file().string() + ".others";
  write_contents(at_ / "victim", "0\n");
  std::filesystem::remove(note);
  std::filesystem::create_symlink(at_ / "victim", note);
  run();
  EXPECT_EQ(4u, calls());  // what the link says of the calibration is not believed either
  EXPECT_EQ("0\n", contents(at_ / "victim"));
  EXPECT_FALSE(std::filesystem::is_symlink(note));
}

// Copies of a machine have its name.
TEST_F(ARunner, CalibratesAgainOnAnotherProcessorOfTheSameName) {
  study_ = parse_study(
      "[[part]]\nkind = \"predict\"\nnet = \"mnist-mlp\"\n"
      "codec = [\"fp32\", \"dynamic8\"]\n",
      "s.toml");
  program(kCalibrates);
  run({.most = 1});
  std::ofstream(profile_file().string() + ".others") << "0\n";
  RunOptions other{.most = 1};
  other.machine.cpu = "another";
  run(other);
  EXPECT_EQ(4u, calls());
}

TEST_F(ARunner, ExpectsNothingOfArithmeticForWhatTrainingTook) {
  study_ = parse_study(std::string(kStudy) +
                           "[[part]]\nkind = \"paper\"\nmodel = \"d16-node\"\n"
                           "[[part]]\nkind = \"round-off\"\n",
                       "s.toml");
  CellRecord trained{.study = "s", .cell = {.kind = "train"}, .seconds = 600};
  folder_.add(trained);
  program(kGood);
  run({.most = 1});
  // Round-off is known to be neither quick nor slow; the others are quick.
  EXPECT_NEAR(300, notes_.last.seconds_left.value(), 5);
}

TEST_F(ARunner, EndsWhatTakesTooLong) {
  program("exec sleep 600");
  const RunResult result = run({.deadline = std::chrono::milliseconds(50), .most = 1});
  EXPECT_EQ(1u, result.failed);
  EXPECT_THAT(folder_.records().at(0).message, HasSubstr("deadline"));
}

TEST_F(ARunner, LeavesCellsToOthersThatAreAtWorkOnThem) {
  program(kGood);
  const auto claim = folder_.claim(id_of(study_.cells[1]));
  const RunResult result = run();
  EXPECT_EQ(2u, result.done);
  EXPECT_EQ(1u, result.elsewhere);
}

TEST_F(ARunner, StopsWhenItIsAskedToAndKeepsNothingHalfDone) {
  program("kill -TERM $PPID; exec sleep 600");
  const RunResult result = run();
  EXPECT_EQ(SIGTERM, result.interrupted);
  EXPECT_EQ(0u, result.done);
  EXPECT_TRUE(folder_.records().empty());
  EXPECT_TRUE(std::filesystem::is_empty(at_ / "folder" / "claims"));
  EXPECT_TRUE(std::filesystem::is_empty(at_ / "folder" / "work"));
}

TEST_F(ARunner, TakesARandomOrderThatIsTheSameEveryTime) {
  study_.order = CellOrder::random;
  for (int i = 0; i < 20; ++i) {
    Cell cell = study_.cells[0];
    cell.settings["samples"] = std::to_string(i + 1);
    study_.cells.push_back(cell);
  }
  program(kGood);
  run();
  std::vector<std::string> order;
  for (const CellRecord& record : notes_.ended_) order.push_back(id_of(record.cell));
  std::vector<std::string> fixed;
  for (const Cell& cell : study_.cells) fixed.push_back(id_of(cell));
  EXPECT_NE(fixed, order);
  EXPECT_TRUE(std::ranges::is_permutation(fixed, order));
}

TEST_F(ARunner, KnowsBeforehandWhatIsMissing) {
  const auto refusal = [&](const std::string& toml) {
    const Study study = parse_study(toml, "s.toml");
    return fault_text([&] { check_surroundings(study.cells, at_ / "folder"); });
  };
  EXPECT_EQ("no error", refusal(std::string(kStudy)));
  EXPECT_THAT(refusal("[[part]]\nkind = \"transfer\"\nsize = \"1M\"\n[part.settings]\n"
                      "launcher = \"no-such-program -n {workers}\"\n"),
              HasSubstr("no program 'no-such-program'"));
  EXPECT_THAT(refusal("[[part]]\nkind = \"transfer\"\nsize = \"999999G\"\n"),
              HasSubstr("GB of memory"));
}

}  // namespace
}  // namespace narrowcast::test
