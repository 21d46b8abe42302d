#include "study/folder.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <fstream>

#include "tests/support/child.hpp"
#include "tests/support/fault_text.hpp"
#include "tests/support/temporary_folder.hpp"

namespace narrowcast::test {
namespace {

using testing::HasSubstr;

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
  folder_.remove(id);
  EXPECT_FALSE(folder_.has(id));
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
  int pid = 0;
  {
    int ends[2];
    ASSERT_EQ(0, pipe(ends));
    status_of([&] {
      const int self = getpid();
      return write(ends[1], &self, sizeof self) == sizeof self ? 0 : 1;
    });
    ASSERT_EQ(static_cast<ssize_t>(sizeof pid), read(ends[0], &pid, sizeof pid));
    close(ends[0]);
    close(ends[1]);
  }
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  hold("a", std::string(host) + " " + std::to_string(pid) + "\n", std::chrono::seconds(0));
  EXPECT_NE(nullptr, folder_.claim("a"));
}

TEST_F(AStudyFolder, TakesACellFromAnotherMachineThatHasBeenSilent) {
  hold("a", "elsewhere 1\n", std::chrono::minutes(1));
  EXPECT_EQ(nullptr, folder_.claim("a"));
  hold("a", "elsewhere 1\n", kClaimLife + std::chrono::minutes(1));
  EXPECT_NE(nullptr, folder_.claim("a"));
}

// A number is given again, after a restart of the machine above all.
TEST_F(AStudyFolder, TakesACellFromASilentProcessWhoseNumberAnotherHas) {
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  const std::string holder = std::string(host) + " 1\n";
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

TEST(RecordsOfCells, ComeFromAFileOfLinesToo) {
  const TemporaryFolder at;
  const std::filesystem::path file = at / "records.jsonl";
  std::ofstream(file) << to_json(record_of("1")) << to_json(record_of("2")) << "{\"study\":\"cut o";
  EXPECT_EQ(2u, read_records(file).size());
  std::ofstream(file) << to_json(record_of("1")) << "{}\n";
  EXPECT_THAT(fault_text([&] { read_records(file); }), HasSubstr("records.jsonl:2"));
  EXPECT_THAT(fault_text([&] { read_records(at / "none"); }), HasSubstr("neither"));
}

}  // namespace
}  // namespace narrowcast::test
