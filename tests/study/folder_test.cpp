#include "study/folder.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <fstream>
#include <sstream>

#include "tests/support/bytes_in_files.hpp"
#include "tests/support/child.hpp"
#include "tests/support/fault_text.hpp"
#include "tests/support/temporary_folder.hpp"

namespace narrowcast::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

CellRecord record_of(const std::string& seed) {
  return {.study = "s", .cell = {.kind = "train", .axes = {{"seed", seed}}}};
}

class AStudyFolder : public testing::Test {
 protected:
  void hold(const std::string& id, const std::string& holder, std::chrono::seconds age) const {
    const std::filesystem::path file = at_ / "folder" / "claims" / id;
    std::ofstream(file) << holder;
    timespec times[2];
    clock_gettime(CLOCK_REALTIME, &times[0]);
    times[0].tv_sec -= age.count();
    times[1] = times[0];
    ASSERT_EQ(0, utimensat(AT_FDCWD, file.c_str(), times, 0));
  }

  void claim_and_die(const std::string& id) {
    ASSERT_EQ(0, status_of([&] { return folder_.claim(id).release() == nullptr ? 1 : 0; }));
  }

  TemporaryFolder at_;
  StudyFolder folder_{at_ / "folder"};
};

TEST_F(AStudyFolder, HasWhatWasAdded) {
  const std::string id = id_of(record_of("1").cell);
  EXPECT_FALSE(folder_.has(id));
  folder_.add(record_of("1"));
  folder_.add(record_of("2"));
  EXPECT_TRUE(folder_.has(id));
  EXPECT_EQ(2u, folder_.records().size());
  EXPECT_EQ(2u, read_records(at_ / "folder").size());
}

TEST_F(AStudyFolder, KeepsWhatIsWantedAgainUntilThereIsAnother) {
  CellRecord record = record_of("1");
  const std::string id = id_of(record.cell);
  folder_.add(record);
  StudyFolder other(at_ / "folder");
  for (StudyFolder* folder : {&folder_, &other}) {
    folder->want_again(record);
    EXPECT_FALSE(folder->has(id));
  }
  EXPECT_EQ(1u, folder_.records().size());
  {
    const auto claim = folder_.claim(id);
    ASSERT_NE(nullptr, claim);
    // Whoever comes later has the old record alone to go by.
    EXPECT_EQ(nullptr, StudyFolder(at_ / "folder").claim(id));
    EXPECT_EQ(nullptr, other.claim(id));
    record.started = "later";
    folder_.add(record);
  }
  EXPECT_TRUE(folder_.has(id));
  // Nobody does it a second time.
  EXPECT_TRUE(other.has(id));
  EXPECT_EQ(nullptr, other.claim(id));
  EXPECT_EQ("later", folder_.records().at(0).started);
}

TEST_F(AStudyFolder, DropsTheClaimOfWhoeverDiedAfterTheRecord) {
  const std::string id = id_of(record_of("1").cell);
  claim_and_die(id);
  folder_.add(record_of("1"));
  StudyFolder(at_ / "folder");
  EXPECT_TRUE(std::filesystem::is_empty(at_ / "folder" / "claims"));
}

TEST_F(AStudyFolder, DropsTheOutputOfWhoeverWasKilled) {
  const std::filesystem::path work = at_ / "folder" / "work";
  std::ofstream(work / "0123456789abcdef.host.1") << "left";
  std::ofstream(work / "fedcba9876543210.host.1") << "under way";
  const auto claim = folder_.claim("fedcba9876543210");
  const StudyFolder again(at_ / "folder");
  EXPECT_FALSE(std::filesystem::exists(work / "0123456789abcdef.host.1"));
  EXPECT_TRUE(std::filesystem::exists(work / "fedcba9876543210.host.1"));
}

TEST_F(AStudyFolder, NamesTheFileThatIsNoRecord) {
  std::ofstream(at_ / "folder" / "cells" / "bad.json") << "{}\n";
  EXPECT_THAT(fault_text([&] { folder_.records(); }), HasSubstr("bad.json"));
}

TEST_F(AStudyFolder, GivesACellToOneAtATime) {
  const auto claim = folder_.claim("a");
  ASSERT_NE(nullptr, claim);
  EXPECT_EQ(nullptr, folder_.claim("a"));
  EXPECT_NE(nullptr, folder_.claim("b"));
  // Nor to another process.
  EXPECT_EQ(0,
            status_of([&] { return StudyFolder(at_ / "folder").claim("a") == nullptr ? 0 : 1; }));
}

TEST_F(AStudyFolder, GivesACellAgainWhenItWasGivenUp) {
  folder_.claim("a").reset();
  EXPECT_NE(nullptr, folder_.claim("a"));
}

TEST_F(AStudyFolder, GivesNoCellThatIsDone) {
  folder_.add(record_of("1"));
  EXPECT_EQ(nullptr, folder_.claim(id_of(record_of("1").cell)));
}

TEST_F(AStudyFolder, TakesACellFromAProcessThatIsDead) {
  claim_and_die("a");
  EXPECT_NE(nullptr, folder_.claim("a"));
}

// Copies of a machine and containers may have its name, and the numbers of their processes say nothing here.
TEST_F(AStudyFolder, LeavesACellToAProcessOfAnotherMachineOfTheSameName) {
  claim_and_die("a");
  std::istringstream words(contents(at_ / "folder" / "claims" / "a"));
  std::string host;
  std::string pid;
  std::string boot;
  std::string space;
  ASSERT_TRUE(words >> host >> pid >> boot >> space);
  const std::string here = host + " " + pid;
  const auto is_left = [&](const std::string& holder) {
    hold("a", holder + "\n", std::chrono::minutes(1));
    return folder_.claim("a") == nullptr;
  };
  EXPECT_TRUE(is_left(here + " 00000000-0000-0000-0000-000000000000 " + space));
  EXPECT_TRUE(is_left(here + " " + boot + " pid:[1]"));
  EXPECT_TRUE(is_left(here));  // as earlier versions wrote it
  EXPECT_FALSE(is_left(here + " " + boot + " " + space));
}

TEST_F(AStudyFolder, TakesACellFromAnotherMachineThatHasBeenSilent) {
  hold("a", "elsewhere 1\n", std::chrono::minutes(1));
  EXPECT_EQ(nullptr, folder_.claim("a"));
  hold("a", "elsewhere 1\n", kClaimLife + std::chrono::minutes(1));
  EXPECT_NE(nullptr, folder_.claim("a"));
}

// A number is given again, after a restart of the machine above all.
TEST_F(AStudyFolder, TakesACellFromASilentProcessWhoseNumberAnotherHas) {
  claim_and_die("a");
  std::string holder = contents(at_ / "folder" / "claims" / "a");
  const std::size_t number = holder.find(' ') + 1;
  holder.replace(number, holder.find(' ', number) - number, "1");
  hold("a", holder, std::chrono::minutes(1));
  EXPECT_EQ(nullptr, folder_.claim("a"));
  hold("a", holder, kClaimLife + std::chrono::minutes(1));
  EXPECT_NE(nullptr, folder_.claim("a"));
}

// Whoever may write there could else have a file of this user's overwritten.
TEST_F(AStudyFolder, FollowsNoLinkWhereAClaimShouldBe) {
  std::ofstream(at_ / "victim") << "kept";
  std::filesystem::create_symlink(at_ / "victim", at_ / "folder" / "claims" / "cell");
  EXPECT_EQ(nullptr, folder_.claim("cell"));
  std::string text;
  std::getline(std::ifstream(at_ / "victim"), text);
  EXPECT_EQ("kept", text);
}

TEST_F(AStudyFolder, BelievesNothingBehindALinkWhereAClaimShouldBe) {
  claim_and_die("cell");
  std::filesystem::rename(at_ / "folder" / "claims" / "cell", at_ / "elsewhere");
  std::filesystem::create_symlink(at_ / "elsewhere", at_ / "folder" / "claims" / "cell");
  EXPECT_EQ(nullptr, folder_.claim("cell"));
}

// Opening a pipe that nobody writes to would wait for ever.
TEST_F(AStudyFolder, WaitsForNoPipeWhereAClaimShouldBe) {
  ASSERT_EQ(0, mkfifo((at_ / "folder" / "claims" / "cell").c_str(), 0600));
  EXPECT_EQ(nullptr, folder_.claim("cell"));
}

TEST_F(AStudyFolder, LeavesNothingBehind) {
  hold("a", "elsewhere 1\n", kClaimLife + std::chrono::minutes(1));
  folder_.claim("a").reset();
  EXPECT_TRUE(std::filesystem::is_empty(at_ / "folder" / "claims"));
}

TEST_F(AStudyFolder, LeavesTheClaimOfWhoeverTookItForDead) {
  auto claim = folder_.claim("a");
  hold("a", "elsewhere 1\n", std::chrono::minutes(0));
  claim.reset();
  EXPECT_EQ(nullptr, folder_.claim("a"));
}

TEST(RecordsOfCells, AreReadWithoutATrace) {
  const TemporaryFolder at;
  std::filesystem::create_directory(at / "cells");
  std::ofstream(at / "cells" / "one.json") << to_json(record_of("1"));
  EXPECT_EQ(1u, read_records(at / "").size());
  EXPECT_FALSE(std::filesystem::exists(at / "claims"));
}

TEST(RecordsOfCells, AreOneForEachCell) {
  Study study;
  study.cells = {record_of("2").cell, record_of("1").cell};
  std::vector<CellRecord> records = {record_of("1"), record_of("2"), record_of("1"),
                                     record_of("2")};
  for (std::size_t i = 0; i < records.size(); ++i) {
    records[i].state = i == 3 ? CellState::failed : CellState::done;
    records[i].message = std::to_string(i);
  }
  const std::vector<CellRecord> kept = records_of(study, records);
  ASSERT_EQ(2u, kept.size());
  EXPECT_EQ("1", kept[0].message);  // of seed 2: the last one failed
  EXPECT_EQ("2", kept[1].message);
}

TEST(RecordsOfCells, ComeFromAFileOfLinesToo) {
  const TemporaryFolder at;
  const std::filesystem::path file = at / "records.jsonl";
  std::ofstream(file) << to_json(record_of("1")) << to_json(record_of("2"));
  EXPECT_EQ(2u, read_records(file).size());
  std::string unended = contents(file);
  unended.pop_back();
  write_contents(file, unended);
  EXPECT_EQ(2u, read_records(file).size());
  unended.pop_back();
  write_contents(file, unended);
  EXPECT_THAT(fault_text([&] { read_records(file); }), HasSubstr("records.jsonl:2"));
  write_contents(file, "garbage");
  EXPECT_THAT(fault_text([&] { read_records(file); }), HasSubstr("records.jsonl:1"));
  std::ofstream(file) << to_json(record_of("1")) << "{}\n";
  EXPECT_THAT(fault_text([&] { read_records(file); }), HasSubstr("records.jsonl:2"));
  EXPECT_THAT(fault_text([&] { read_records(at / ""); }), StartsWith("usage: "));
  EXPECT_THAT(fault_text([&] { read_records(at / "none"); }), StartsWith("system: cannot read"));
}

}  // namespace
}  // namespace narrowcast::test
