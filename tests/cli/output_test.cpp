#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "tests/cli/run_command.hpp"
#include "tests/support/child.hpp"

namespace narrowcast::cli::test {
namespace {

using narrowcast::test::status_of;

TEST(Output, IsLeftAloneWhenSomethingFails) {
  const TemporaryFolder folder;
  const std::string good = (folder / "good").string();
  write_contents(good, "good");
  expect_refusal(run_command({"decode", "-o", good}, "broken"), 3);
  expect_refusal(run_command({"encode", "fp32", "-o", good}, "12345"), 3);
  expect_refusal(run_command({"encode", "fp32", "-o", good, "/no/such/file"}), 5);
  EXPECT_EQ("good", contents(good));
  EXPECT_EQ(1u, folder.files());
}

TEST(Output, TakesTheAccessOfWhatItReplaces) {
  using std::filesystem::perms;
  const TemporaryFolder folder;
  const std::string path = (folder / "frame").string();
  write_contents(path, "old");
  const perms access = perms::owner_read | perms::owner_write | perms::group_read;
  std::filesystem::permissions(path, access);
  EXPECT_EQ(0, run_command({"encode", "fp32", "-o", path}).code);
  EXPECT_EQ(access, std::filesystem::status(path).permissions());
  EXPECT_NE("old", contents(path));
}

TEST(Output, FollowsLinksAndLeavesDevicesInPlace) {
  const TemporaryFolder folder;
  write_contents(folder / "real", "old");
  std::filesystem::create_symlink("real", folder / "link");
  EXPECT_EQ(0, run_command({"encode", "fp32", "-o", (folder / "link").string()}).code);
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_NE("old", contents(folder / "real"));
  EXPECT_EQ(0, run_command({"encode", "fp32", "-o", "/dev/null"}).code);
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST(Output, MakesWhatALinkToNothingPointsTo) {
  const TemporaryFolder folder;
  std::filesystem::create_symlink("not-yet", folder / "link");
  EXPECT_EQ(0, run_command({"encode", "fp32", "-o", (folder / "link").string()}).code);
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_TRUE(
      std::filesystem::is_regular_file(std::filesystem::symlink_status(folder / "not-yet")));
}

TEST(Output, RefusesLinksThatGoInCircles) {
  const TemporaryFolder folder;
  std::filesystem::create_symlink("b", folder / "a");
  std::filesystem::create_symlink("a", folder / "b");
  expect_refusal(run_command({"encode", "fp32", "-o", (folder / "a").string()}), 5);
  EXPECT_EQ(2u, folder.files());
}

TEST(Output, RefusesFoldersAndEmptyNames) {
  const TemporaryFolder folder;
  expect_refusal(run_command({"encode", "fp32", "-o", (folder / "").string()}), 5);
  expect_refusal(run_command({"encode", "fp32", "-o", ""}), 2);
  expect_refusal(run_command({"encode", "fp32", "--output="}), 2);
}

TEST(Output, TakesNamesAsLongAsTheFileSystem) {
  const TemporaryFolder folder;
  const std::string name(255, 'n');
  const Outcome outcome = run_command({"encode", "fp32", "-o", (folder / name).string()});
  EXPECT_EQ(0, outcome.code) << outcome.err;
  EXPECT_TRUE(std::filesystem::exists(folder / name));
  EXPECT_EQ(1u, folder.files());
}

TEST(Output, GoesIntoAFifoThatSomebodyReads) {
  const TemporaryFolder folder;
  const std::string fifo = (folder / "fifo").string();
  ASSERT_EQ(0, ::mkfifo(fifo.c_str(), 0600));
  std::fstream both(fifo, std::ios::in | std::ios::out | std::ios::binary);  // waits for nobody
  EXPECT_EQ(0, run_command({"encode", "fp32", "-o", fifo}).code);
  EXPECT_TRUE(std::filesystem::is_fifo(fifo));
  EXPECT_EQ(0x8e, both.get());
}

// The folder would let anybody put another file in its place.
TEST(Output, LeavesFilesAloneThatMayNotBeWritten) {
  const TemporaryFolder folder;
  const std::string path = (folder / "kept").string();
  write_contents(path, "kept");
  std::filesystem::permissions(folder / "", std::filesystem::perms::all);
  std::filesystem::permissions(path, std::filesystem::perms::owner_read);
  const int status = status_of([&] {
    constexpr uid_t kNobody = 65534;
    if (::geteuid() == 0 && ::seteuid(kNobody) != 0) return 1;  // root may write everything
    return run_command({"encode", "fp32", "-o", path}).code;
  });
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(5, WEXITSTATUS(status));
  EXPECT_EQ("kept", contents(path));
}

}  // namespace
}  // namespace narrowcast::cli::test
