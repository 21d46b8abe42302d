#include "study/process.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "tests/support/bytes_in_files.hpp"
#include "tests/support/fault_text.hpp"
#include "tests/support/temporary_folder.hpp"

namespace narrowcast::test {
namespace {

using testing::HasSubstr;

// Whoever may write to the folder could else have a file of this user's overwritten.
TEST(Process, FollowsNoLinkWhereItsOutputGoes) {
  const TemporaryFolder folder;
  write_contents(folder / "victim", "kept");
  std::filesystem::create_symlink(folder / "victim", folder / "output");
  EXPECT_THAT(
      fault_text([&] {
        run_process({.words = {"/bin/echo", "new"}, .output = folder / "output"}, StopSignals());
      }),
      HasSubstr("system: " + (folder / "output").string()));
  EXPECT_EQ("kept", contents(folder / "victim"));
}

// Opening a pipe that nobody reads would wait for ever.
TEST(Process, WaitsForNoPipeWhereItsOutputGoes) {
  const TemporaryFolder folder;
  ASSERT_EQ(0, mkfifo((folder / "output").c_str(), 0600));
  EXPECT_THAT(
      fault_text([&] {
        run_process({.words = {"/bin/echo", "new"}, .output = folder / "output"}, StopSignals());
      }),
      HasSubstr("system: " + (folder / "output").string()));
}

// It has the signals blocked that it is asked with, as a process has that hangs in its farewell.
TEST(Process, IsKilledWhenItDoesNotStopAfterItWasAskedTo) {
  const TemporaryFolder folder;
  sigset_t asking;
  sigset_t before;
  sigemptyset(&asking);
  sigaddset(&asking, SIGINT);
  sigaddset(&asking, SIGTERM);
  ASSERT_EQ(0, pthread_sigmask(SIG_BLOCK, &asking, &before));
  ASSERT_EQ(0, raise(SIGINT));
  const ProcessEnd end = run_process({.words = {"/bin/sleep", "60"},
                                      .output = folder / "output",
                                      .deadline = std::chrono::milliseconds(300)},
                                     StopSignals());
  ASSERT_EQ(0, pthread_sigmask(SIG_SETMASK, &before, nullptr));
  EXPECT_EQ(SIGKILL, end.signal);
  EXPECT_EQ(SIGINT, end.interrupted);
  EXPECT_FALSE(end.late);
}

}  // namespace
}  // namespace narrowcast::test
