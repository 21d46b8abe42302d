#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include "base/error.hpp"
#include "base/new_file.hpp"
#include "store/store.hpp"
#include "tests/store/sample.hpp"
#include "tests/support/bytes_in_files.hpp"
#include "tests/support/child.hpp"
#include "tests/support/temporary_folder.hpp"

namespace narrowcast::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string name_of(std::uint64_t step) {
  const std::string digits = std::to_string(step);
  return "checkpoint-" + std::string(12 - digits.size(), '0') + digits + ".safetensors";
}

Snapshot at_step(std::uint64_t step) {
  Snapshot snapshot = sample_snapshot();
  snapshot.about["step"] = std::to_string(step);
  return snapshot;
}

void damage(const std::filesystem::path& file) {
  std::string bytes = contents(file);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  write_contents(file, bytes);
}

std::vector<std::string> names_in(const TemporaryFolder& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

TEST(Checkpoints, StartWithNone) {
  const TemporaryFolder folder;
  const Checkpoints checkpoints(folder / "made/on/the/way");
  EXPECT_FALSE(checkpoints.latest().has_value());
  EXPECT_TRUE(std::filesystem::is_empty(folder / "made/on/the/way"));
}

TEST(Checkpoints, GiveTheNewestBack) {
  const TemporaryFolder folder;
  const Checkpoints checkpoints(folder.path());
  for (const std::uint64_t step : {9u, 10u, 100u}) checkpoints.save(step, at_step(step));
  const auto found = checkpoints.latest();
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(100u, found->step);
  EXPECT_EQ("100", found->snapshot.about.at("step"));
  EXPECT_EQ(sample_snapshot().arrays, found->snapshot.arrays);
  EXPECT_EQ(folder / name_of(100), found->file);
  EXPECT_TRUE(found->refused.empty());
}

TEST(Checkpoints, KeepTheLastFew) {
  const TemporaryFolder folder;
  const Checkpoints checkpoints(folder.path(), 2);
  for (std::uint64_t step = 1; step <= 5; ++step) checkpoints.save(step, at_step(step));
  EXPECT_THAT(names_in(folder), ElementsAre(name_of(4), name_of(5)));
  checkpoints.save(5, at_step(6));
  EXPECT_THAT(names_in(folder), ElementsAre(name_of(4), name_of(5)));
  EXPECT_EQ("6", checkpoints.latest()->snapshot.about.at("step"));
  EXPECT_THROW(Checkpoints(folder.path(), 0), Error);
}

TEST(Checkpoints, PassOverDamagedOnes) {
  const TemporaryFolder folder;
  const Checkpoints checkpoints(folder.path());
  for (const std::uint64_t step : {1u, 2u, 3u}) checkpoints.save(step, at_step(step));
  damage(folder / name_of(3));
  write_contents(folder / name_of(2), contents(folder / name_of(2)).substr(0, 50));
  const auto found = checkpoints.latest();
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(1u, found->step);
  EXPECT_THAT(found->refused, ElementsAre(HasSubstr(name_of(3)), HasSubstr(name_of(2))));
}

TEST(Checkpoints, AreNeverWithoutAChecksum) {
  const TemporaryFolder folder;
  const Checkpoints checkpoints(folder.path());
  checkpoints.save(1, at_step(1));
  std::string bytes = contents(folder / name_of(1));
  bytes[bytes.find("xxh3")] = 'y';
  write_contents(folder / name_of(1), bytes);
  EXPECT_NO_THROW(read_snapshot(folder / name_of(1)));
  EXPECT_THROW(checkpoints.latest(), Error);
}

TEST(Checkpoints, AreAnErrorWhenAllAreDamaged) {
  const TemporaryFolder folder;
  const Checkpoints checkpoints(folder.path());
  for (const std::uint64_t step : {1u, 2u}) {
    checkpoints.save(step, at_step(step));
    damage(folder / name_of(step));
  }
  try {
    checkpoints.latest();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(Fault::wire, error.fault());
    EXPECT_THAT(error.what(), HasSubstr("none of the 2 checkpoints"));
    EXPECT_THAT(error.what(), HasSubstr(name_of(2)));
  }
}

// After a damaged one was passed over, the steps are taken again.
TEST(Checkpoints, NeverDropTheOneJustSaved) {
  const TemporaryFolder folder;
  const Checkpoints checkpoints(folder.path(), 1);
  checkpoints.save(10, at_step(10));
  damage(folder / name_of(10));
  checkpoints.save(8, at_step(8));
  EXPECT_EQ(8u, checkpoints.latest()->step);
  checkpoints.save(10, at_step(10));
  EXPECT_EQ(10u, checkpoints.latest()->step);
  EXPECT_THAT(names_in(folder), ElementsAre(name_of(10)));
}

// Another number of workers takes other steps for the same images: its numbers may be smaller.
TEST(Checkpoints, AreNotFoundWhenARunHasGoneBackBehindThem) {
  const TemporaryFolder folder;
  const Checkpoints checkpoints(folder.path(), 2);
  checkpoints.save(900, at_step(900));
  checkpoints.save(936, at_step(936));
  checkpoints.save(585, at_step(585));
  EXPECT_EQ(585u, checkpoints.latest()->step);
  EXPECT_THAT(names_in(folder), ElementsAre(name_of(585)));
}

TEST(Checkpoints, LeaveOtherFilesAlone) {
  const TemporaryFolder folder;
  const std::vector<std::string> others = {
      "checkpoint-1.safetensors",
      "checkpoint-00000000000x.safetensors",
      "checkpoint-000000000001.safetensors.old",
      "checkpoint-0000000000001.safetensors",
      "checkpoint-+00000000001.safetensors",
      "checkpoint-99999999999999999999.safetensors",
      "notes.txt",
  };
  for (const std::string& other : others) write_contents(folder / other, "kept");
  const Checkpoints checkpoints(folder.path(), 1);
  EXPECT_FALSE(checkpoints.latest().has_value());
  checkpoints.save(1, at_step(1));
  checkpoints.save(2, at_step(2));
  EXPECT_EQ(2u, checkpoints.latest()->step);
  EXPECT_EQ(others.size() + 1, folder.files());
}

TEST(Checkpoints, CleanUpAfterWritersThatDied) {
  const TemporaryFolder folder;
  const auto die_writing = [&] {
    return status_of([&] {
      const NewFile file((folder / name_of(7)).string());
      return ::raise(SIGKILL);
    });
  };
  ASSERT_TRUE(WIFSIGNALED(die_writing()));
  const Checkpoints checkpoints(folder.path());
  EXPECT_EQ(0u, folder.files());
  ASSERT_TRUE(WIFSIGNALED(die_writing()));
  checkpoints.save(1, at_step(1));
  EXPECT_THAT(names_in(folder), ElementsAre(name_of(1)));
}

TEST(Checkpoints, SayAtOnceThatAFolderCannotBeUsed) {
  const TemporaryFolder folder;
  write_contents(folder / "file", "");
  const auto refused_in = [](const std::filesystem::path& where) {
    try {
      const Checkpoints checkpoints(where);
    } catch (const Error& error) {
      const std::string what = error.what();
      return error.fault() == Fault::system && what.find(where.string()) != std::string::npos;
    }
    return false;
  };
  EXPECT_TRUE(refused_in(folder / "file"));
  EXPECT_TRUE(refused_in(folder / "file/below"));
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0555));
  const int status = status_of([&] {
    constexpr uid_t kNobody = 65534;
    if (::geteuid() == 0 && ::seteuid(kNobody) != 0) return 2;  // root may write everywhere
    return refused_in(folder.path()) && refused_in(folder / "new") ? 0 : 1;
  });
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0755));
  EXPECT_EQ(0, status);
}

}  // namespace
}  // namespace narrowcast::test
