#include "base/new_file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <optional>
#include <set>

#include "base/error.hpp"
#include "tests/support/bytes_in_files.hpp"
#include "tests/support/child.hpp"
#include "tests/support/temporary_folder.hpp"

namespace narrowcast::test {
namespace {

Bytes bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

TEST(NewFile, IsThereWhenItTakesItsName) {
  const TemporaryFolder folder;
  NewFile file((folder / "new").string());
  file.write(bytes_of("hello "));
  file.write(bytes_of("there"));
  file.write_at(1, bytes_of("A"));
  file.write(bytes_of("!"));
  EXPECT_FALSE(std::filesystem::exists(folder / "new"));
  file.take_name();
  EXPECT_EQ("hAllo there!", contents(folder / "new"));
  EXPECT_EQ(1u, folder.files());
}

TEST(NewFile, LeavesWhatIsThereUntilThen) {
  const TemporaryFolder folder;
  write_contents(folder / "old", "old");
  {
    NewFile file((folder / "old").string());
    file.write(bytes_of("new"));
    EXPECT_EQ(2u, folder.files());
  }
  EXPECT_EQ("old", contents(folder / "old"));
  EXPECT_EQ(1u, folder.files());
}

TEST(NewFile, ObeysTheMaskOfTheProcess) {
  const TemporaryFolder folder;
  const int status = status_of([&] {
    ::umask(027);
    NewFile file((folder / "new").string());
    file.take_name();
    return 0;
  });
  ASSERT_EQ(0, status);
  EXPECT_EQ(std::filesystem::perms(0640), std::filesystem::status(folder / "new").permissions());
}

TEST(NewFile, IsForNobodyElseUntilItIsComplete) {
  const TemporaryFolder folder;
  write_contents(folder / "open", "to all");
  std::filesystem::permissions(folder / "open", std::filesystem::perms(0644));
  NewFile file((folder / "open").string());
  EXPECT_EQ(std::filesystem::perms(0600), std::filesystem::status(file.name()).permissions());
  file.take_name();
  EXPECT_EQ(std::filesystem::perms(0644), std::filesystem::status(folder / "open").permissions());
}

TEST(NewFile, HasANameThatNobodyCanGuess) {
  const TemporaryFolder folder;
  std::set<std::string> names;
  for (int i = 0; i < 100; ++i) names.insert(NewFile((folder / "new").string()).name());
  EXPECT_EQ(100u, names.size());
}

TEST(NewFile, ReplacesALinkAndDoesNotFollowIt) {
  const TemporaryFolder folder;
  write_contents(folder / "victim", "kept");
  std::filesystem::create_symlink(folder / "victim", folder / "link");
  NewFile file((folder / "link").string());
  file.write(bytes_of("new"));
  file.take_name();
  EXPECT_EQ("kept", contents(folder / "victim"));
  EXPECT_EQ("new", contents(folder / "link"));
  EXPECT_FALSE(std::filesystem::is_symlink(folder / "link"));
}

TEST(NewFile, TakesAFreeNameOnceOnly) {
  const TemporaryFolder folder;
  std::filesystem::create_symlink(folder / "nowhere", folder / "link");
  EXPECT_FALSE(NewFile((folder / "link").string()).take_free_name());
  NewFile first((folder / "new").string());
  first.write(bytes_of("first"));
  EXPECT_TRUE(first.take_free_name());
  EXPECT_FALSE(NewFile((folder / "new").string()).take_free_name());
  EXPECT_EQ("first", contents(folder / "new"));
  EXPECT_EQ(2u, folder.files());
}

TEST(NewFile, SaysWhyItCannotBe) {
  const TemporaryFolder folder;
  const std::string path = (folder / "no/such/folder").string();
  try {
    const NewFile file(path);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(Fault::system, error.fault());
    EXPECT_EQ("cannot write '" + path + "': No such file or directory", error.what());
  }
}

TEST(AbandonedFiles, AreRemovedOnceTheirWriterIsDead) {
  const TemporaryFolder folder;
  const NewFile mine((folder / "mine").string());
  ASSERT_TRUE(WIFSIGNALED(status_of([&] {
    const NewFile file((folder / "theirs").string());
    return ::raise(SIGKILL);
  })));
  write_contents(folder / ".nc-notes", "of a person");
  ASSERT_EQ(3u, folder.files());
  remove_abandoned_files(folder.path());
  EXPECT_EQ(2u, folder.files());
  EXPECT_TRUE(std::filesystem::exists(mine.name()));
  EXPECT_TRUE(std::filesystem::exists(folder / ".nc-notes"));
}

// Opening a pipe that nobody writes to would wait for ever.
TEST(AbandonedFiles, AreNotWaitedFor) {
  const TemporaryFolder folder;
  ASSERT_EQ(0, ::mkfifo((folder / ".nc-abcdefgh").c_str(), 0600));
  remove_abandoned_files(folder.path());
  EXPECT_EQ(0u, folder.files());
}

TEST(WatchedFile, IsRemovedBySignals) {
  for (const int signal : {SIGHUP, SIGINT, SIGTERM}) {
    const TemporaryFolder folder;
    const int status = status_of([&] {
      std::signal(signal, SIG_DFL);
      const WatchedFile file((folder / "frame").string());
      if (folder.files() != 1) return 1;
      ::raise(signal);
      return 0;
    });
    ASSERT_TRUE(WIFSIGNALED(status)) << signal;
    EXPECT_EQ(signal, WTERMSIG(status));
    EXPECT_EQ(0u, folder.files()) << signal;
  }
}

TEST(WatchedFile, LeavesIgnoredSignalsIgnored) {
  const TemporaryFolder folder;
  const int status = status_of([&] {
    std::signal(SIGHUP, SIG_IGN);
    WatchedFile file((folder / "frame").string());
    ::raise(SIGHUP);
    file->take_name();
    return 0;
  });
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(0, WEXITSTATUS(status));
  EXPECT_TRUE(std::filesystem::exists(folder / "frame"));
}

TEST(WatchedFile, GivesSignalsBack) {
  const TemporaryFolder folder;
  struct sigaction before = {};
  struct sigaction after = {};
  ::sigaction(SIGTERM, nullptr, &before);
  { const WatchedFile file((folder / "frame").string()); }
  ::sigaction(SIGTERM, nullptr, &after);
  EXPECT_EQ(before.sa_handler, after.sa_handler);
  EXPECT_EQ(0u, folder.files());
}

}  // namespace
}  // namespace narrowcast::test
