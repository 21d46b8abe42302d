#include "base/own_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/support/bytes_in_files.hpp"
#include "tests/support/temporary_folder.hpp"

namespace narrowcast::test {
namespace {

TEST(OwnFile, IsReadWhole) {
  const TemporaryFolder folder;
  for (const std::size_t size : {0, 1, 4096, 10000}) {
    write_contents(folder / "file", std::string(size, 'x'));
    EXPECT_EQ(std::string(size, 'x'), read_own_file(folder / "file"));
  }
}

TEST(OwnFile, IsNothingWhenSomethingElseStandsThere) {
  const TemporaryFolder folder;
  write_contents(folder / "victim", "secret");
  std::filesystem::create_symlink(folder / "victim", folder / "link");
  ASSERT_EQ(0, mkfifo((folder / "pipe").c_str(), 0600));
  EXPECT_EQ(std::nullopt, read_own_file(folder / "link"));
  EXPECT_EQ(std::nullopt, read_own_file(folder / "pipe"));
  EXPECT_EQ(std::nullopt, read_own_file(folder.path()));
  EXPECT_EQ(std::nullopt, read_own_file(folder / "missing"));
}

}  // namespace
}  // namespace narrowcast::test
