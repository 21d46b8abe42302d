#include "study/process.hpp"

#include <gmock/gmock.h>

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

}  // namespace
}  // namespace narrowcast::test
