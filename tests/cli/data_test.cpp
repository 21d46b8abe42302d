#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/run_command.hpp"
#include "tests/support/places.hpp"

namespace narrowcast::cli::test {
namespace {

using testing::HasSubstr;

// Ten copies of a JPEG of 8x8 in one class.
void write_photos(const TemporaryFolder& folder) {
  std::filesystem::create_directories(folder / "photos/orange");
  for (int i = 0; i < 10; ++i)
    std::filesystem::copy_file(narrowcast::test::golden_folder() / "data/orange-8x8.jpg",
                               folder / ("photos/orange/" + std::to_string(i) + ".jpg"));
}

TEST(DataPack, SaysWhatItHasWritten) {
  const TemporaryFolder folder;
  write_photos(folder);
  const std::string photos = (folder / "photos").string();
  const std::string file = (folder / "photos.pack").string();
  const Outcome outcome = run_command({"data", "pack", photos, "-o", file, "--size", "4x6"});
  EXPECT_EQ(0, outcome.code) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr(file + ": 9 images of 4x6 to train with and 1 to test with"));
  const auto info =
      nlohmann::json::parse(run_command({"data", "info", file, "--json"}).out, nullptr, false);
  EXPECT_EQ(9, info["train"]);
  EXPECT_EQ(1, info["test"]);
  EXPECT_EQ(4, info["height"]);
  EXPECT_EQ(6, info["width"]);
  EXPECT_EQ(nlohmann::json::array({"orange"}), info["classes"]);
  EXPECT_NEAR(200 / 255.0, info["mean"][0], 0.01);
}

TEST(DataPack, ShowsAPersonHowFarItIs) {
  const TemporaryFolder folder;
  write_photos(folder);
  const std::vector<std::string> words = {"data", "pack", (folder / "photos").string(), "-o",
                                          (folder / "photos.pack").string()};
  EXPECT_EQ("", run_command(words).err);
  EXPECT_THAT(run_command(words, "", {.err = true}).err, HasSubstr("[100/100]"));
}

TEST(DataPack, RefusesInOneLine) {
  const TemporaryFolder folder;
  write_photos(folder);
  const std::string photos = (folder / "photos").string();
  const std::string file = (folder / "photos.pack").string();
  expect_refusal(run_command({"data", "pack", photos}), 2);
  for (const char* size : {"4", "x", "4x", "x4", "0x4", "4x-1", "4x4x4", "99999x4", "four"})
    expect_refusal(run_command({"data", "pack", photos, "-o", file, "--size", size}), 2);
  expect_refusal(run_command({"data", "pack", (folder / "none").string(), "-o", file}), 2);
  expect_refusal(run_command({"data", "pack", photos, "-o", (folder / "no/pack").string()}), 5);
  write_contents(folder / "photos/orange/3.jpg", "no JPEG");
  const Outcome broken = run_command({"data", "pack", photos, "-o", file});
  expect_refusal(broken, 3);
  EXPECT_THAT(broken.err, HasSubstr("photos/orange/3.jpg"));
  EXPECT_EQ(1u, folder.files());
}

TEST(DataInfo, ReadsEveryPixel) {
  const TemporaryFolder folder;
  write_photos(folder);
  const std::string file = (folder / "photos.pack").string();
  ASSERT_EQ(0, run_command({"data", "pack", (folder / "photos").string(), "-o", file}).code);
  std::string bytes = contents(file);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  write_contents(file, bytes);
  const Outcome outcome = run_command({"data", "info", file});
  expect_refusal(outcome, 3);
  EXPECT_THAT(outcome.err, HasSubstr("checksum of its pixels does not match"));
}

TEST(DataInfo, RefusesWhatThereIsNot) {
  expect_refusal(run_command({"data", "info"}), 2);
  expect_refusal(run_command({"data", "info", "no-such-set"}), 2);
}

}  // namespace
}  // namespace narrowcast::cli::test
