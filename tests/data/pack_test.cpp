#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cmath>
#include <csignal>

#include "data/data.hpp"
#include "data/packing/jpeg.hpp"
#include "tests/data/files.hpp"
#include "tests/support/bytes_in_files.hpp"
#include "tests/support/child.hpp"
#include "tests/support/fault_text.hpp"
#include "tests/support/temporary_folder.hpp"

namespace narrowcast::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class Counting final : public PackProgress {
 public:
  void packed(std::size_t images, std::size_t of) override {
    EXPECT_EQ(++count, images);
    EXPECT_LE(images, of);
  }
  std::size_t count = 0;
};

Packed pack_silently(const PackOrder& order) {
  Counting progress;
  const Packed packed = pack(order, progress);
  EXPECT_EQ(packed.images, progress.count);
  return packed;
}

void write_class(const std::filesystem::path& folder, int images,
                 const std::array<int, 3>& colour) {
  std::filesystem::create_directories(folder);
  for (int i = 0; i < images; ++i)
    write_contents(folder / (std::to_string(i) + ".jpg"), jpeg_of(8, 8, colour));
}

// ImageNet's layout: two classes, 3 + 2 images for training and one of each for tests.
void write_divided(const TemporaryFolder& folder) {
  write_class(folder / "in/train/apple", 3, {200, 0, 0});
  write_class(folder / "in/train/lime", 2, {0, 200, 0});
  write_class(folder / "in/val/apple", 1, {180, 0, 0});
  write_class(folder / "in/val/lime", 1, {0, 180, 0});
}

PackOrder order_of(const TemporaryFolder& folder) {
  return {.folder = folder / "in", .file = folder / "pack"};
}

std::string pack_refusal(const PackOrder& order) {
  std::string text = fault_text([&] { pack_silently(order); });
  EXPECT_FALSE(std::filesystem::exists(order.file));
  return text;
}

DataSet open_file(const std::filesystem::path& file) { return open_data({.what = file.string()}); }

TEST(Pack, HoldsWhatTheFoldersHad) {
  const TemporaryFolder folder;
  write_divided(folder);
  const Packed packed = pack_silently(order_of(folder));
  EXPECT_EQ(7u, packed.images);
  EXPECT_EQ(2u, packed.test_images);
  EXPECT_THAT(packed.classes, ElementsAre("apple", "lime"));
  EXPECT_EQ(std::filesystem::file_size(folder / "pack"), packed.bytes);
  const DataSet set = open_file(folder / "pack");
  EXPECT_EQ((ImageShape{.channels = 3, .height = 8, .width = 8}), set.train->shape());
  ASSERT_EQ(5u, set.train->size());
  ASSERT_EQ(2u, set.test->size());
  EXPECT_EQ(packed.classes, set.class_names);
  EXPECT_EQ(0, set.train->label(2));
  EXPECT_EQ(1, set.train->label(3));
  EXPECT_NEAR(200, std::to_integer<int>(set.train->pixels(0)[0]), 2);
  EXPECT_NEAR(0, std::to_integer<int>(set.train->pixels(0)[64]), 2);
  EXPECT_NEAR(180, std::to_integer<int>(set.test->pixels(1)[64]), 2);
  set.train->check();
  set.test->check();
}

// The sides stand in its head: two bytes each, after the marker of the frame and three more.
TEST(Jpeg, ThatAnnouncesMorePixelsThanItsBytesCanHoldIsRefused) {
  std::string jpeg = jpeg_of(8, 8, {200, 0, 0});
  const std::size_t frame = jpeg.find("\xff\xc0");
  ASSERT_NE(std::string::npos, frame);
  jpeg.replace(frame + 5, 4, "\x3f\xff\x3f\xff", 4);
  packing::JpegReader reader;
  EXPECT_EQ("wire: it announces more pixels than so few bytes can hold",
            fault_text([&] { reader.read(std::as_bytes(std::span(jpeg))); }));
}

TEST(Pack, KnowsItsMeanAndDeviation) {
  const TemporaryFolder folder;
  write_divided(folder);
  pack_silently(order_of(folder));
  const Normal normal = open_file(folder / "pack").normal;
  const double red = 200 / 255.0;
  EXPECT_NEAR(0.6 * red, normal.mean[0], 0.01);
  EXPECT_NEAR(0.4 * red, normal.mean[1], 0.01);
  EXPECT_NEAR(std::sqrt(0.6 * 0.4) * red, normal.deviation[0], 0.01);
}

TEST(Pack, IsTheSameEachTime) {
  const TemporaryFolder folder;
  write_divided(folder);
  pack_silently({.folder = folder / "in", .file = folder / "a", .height = 5, .width = 7});
  pack_silently({.folder = folder / "in", .file = folder / "b", .height = 5, .width = 7});
  EXPECT_EQ(contents(folder / "a"), contents(folder / "b"));
}

TEST(Pack, SetsEveryTenthAsideWhenNobodyDid) {
  const TemporaryFolder folder;
  write_class(folder / "in/apple", 40, {200, 0, 0});
  write_class(folder / "in/lime", 20, {0, 200, 0});
  write_contents(folder / "in/README", "not a class");
  write_contents(folder / "in/lime/.hidden", "not an image");
  EXPECT_EQ(6u, pack_silently(order_of(folder)).test_images);
  const DataSet set = open_file(folder / "pack");
  EXPECT_EQ(54u, set.train->size());
  EXPECT_EQ(0, set.test->label(3));
  EXPECT_EQ(1, set.test->label(4));
}

TEST(Pack, ScalesToTheSizeThatIsWanted) {
  const TemporaryFolder folder;
  write_class(folder / "in/train/a", 1, {10, 20, 30});
  write_contents(folder / "in/train/a/wide.JPEG", jpeg_of(20, 50, {10, 20, 30}));
  write_contents(folder / "in/train/a/small.jpeg", jpeg_of(1, 1, {10, 20, 30}));
  write_contents(folder / "in/train/a/grey.jpg", grey_jpeg_of(100, 10, 20));
  write_class(folder / "in/test/a", 1, {10, 20, 30});
  EXPECT_THAT(pack_refusal(order_of(folder)), HasSubstr("--size"));
  pack_silently({.folder = folder / "in", .file = folder / "pack", .height = 6, .width = 9});
  const DataSet set = open_file(folder / "pack");
  EXPECT_EQ((ImageShape{.channels = 3, .height = 6, .width = 9}), set.train->shape());
  for (std::size_t image = 0; image < 4; ++image)
    for (const std::byte value : set.train->pixels(image).subspan(54, 54))
      EXPECT_NEAR(20, std::to_integer<int>(value), 2) << image;
}

TEST(Scaled, KeepsTheMiddle) {
  // Three columns of 4x4: red, green, blue. The square in the middle is green.
  packing::Picture picture = {.height = 4, .width = 12, .values = {}};
  for (std::size_t i = 0; i < 48; ++i)
    for (std::size_t c = 0; c < 3; ++c)
      picture.values.push_back(std::byte{static_cast<unsigned char>(i % 12 / 4 == c ? 240 : 0)});
  const packing::Picture same = packing::scaled(picture, 4, 12);
  EXPECT_EQ(picture.values, same.values);
  const packing::Picture half = packing::scaled(picture, 2, 2);
  ASSERT_EQ(12u, half.values.size());
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_GT(std::to_integer<int>(half.values[3 * i + 1]), 200) << i;
}

TEST(Scaled, BlendsNeighboursWhenItGrows) {
  const packing::Picture two = {.height = 1,
                                .width = 2,
                                .values = {std::byte{0}, std::byte{0}, std::byte{0}, std::byte{100},
                                           std::byte{100}, std::byte{100}}};
  const packing::Picture grown = packing::scaled(two, 2, 4);
  std::vector<int> red;
  for (std::size_t i = 0; i < 4; ++i) red.push_back(std::to_integer<int>(grown.values[3 * i]));
  EXPECT_THAT(red, ElementsAre(0, 25, 75, 100));
}

TEST(Pack, NamesTheJpegThatIsBroken) {
  const TemporaryFolder folder;
  write_divided(folder);
  const std::filesystem::path file = folder / "in/train/lime/1.jpg";
  const std::string good = contents(file);
  for (const std::string& bad :
       {std::string("no JPEG"), std::string(), good.substr(0, good.size() / 2),
        good.substr(0, good.size() - 2)}) {
    write_contents(file, bad);
    EXPECT_THAT(pack_refusal(order_of(folder)), StartsWith("wire: '" + file.string() + "': "));
  }
}

TEST(Pack, RefusesOtherLayouts) {
  const TemporaryFolder folder;
  const PackOrder order = order_of(folder);
  EXPECT_THAT(pack_refusal(order), HasSubstr("no folder"));
  std::filesystem::create_directory(folder / "in");
  EXPECT_THAT(pack_refusal(order), HasSubstr("no class folders"));
  std::filesystem::create_directory(folder / "in/empty");
  EXPECT_THAT(pack_refusal(order), HasSubstr("no images"));
  write_contents(folder / "in/empty/picture.png", "");
  EXPECT_THAT(pack_refusal(order), HasSubstr("picture.png"));
  std::filesystem::remove_all(folder / "in/empty");
  write_class(folder / "in/few", 3, {1, 2, 3});
  EXPECT_THAT(pack_refusal(order), HasSubstr("set some aside"));
  write_class(folder / "in/train/a", 1, {1, 2, 3});
  write_class(folder / "in/val/b", 1, {1, 2, 3});
  EXPECT_THAT(pack_refusal(order), HasSubstr("has no class of that name"));
  write_class(folder / "in/test/a", 1, {1, 2, 3});
  EXPECT_THAT(pack_refusal(order), HasSubstr("which is for tests"));
  EXPECT_THAT(fault_text([&] { pack_silently({.folder = folder / "in", .file = folder.path()}); }),
              StartsWith("usage: "));
}

TEST(Pack, IsNotThereWhenTheDiskIsFull) {
  const TemporaryFolder folder;
  write_divided(folder);
  const int status = status_of([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit little = {1000, 1000};
    if (::setrlimit(RLIMIT_FSIZE, &little) != 0) return 2;
    const std::string text = pack_refusal(order_of(folder));
    return text == "system: cannot write '" + (folder / "pack").string() + "': File too large" ? 0
                                                                                               : 1;
  });
  EXPECT_EQ(0, status);
  EXPECT_EQ(1u, folder.files());
}

TEST(PackFile, NoticesDamageInEveryByte) {
  const TemporaryFolder folder;
  write_divided(folder);
  pack_silently({.folder = folder / "in", .file = folder / "pack", .height = 3, .width = 3});
  const std::string good = contents(folder / "pack");
  const std::size_t labels_end = 64 + 7 * 4;
  const std::size_t pixels = 128;
  const std::size_t pixels_end = pixels + 7 * 27;
  for (std::size_t at = 0; at < good.size(); ++at) {
    if (at >= labels_end && at < pixels) continue;  // nothing is there
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ (1 << at % 8));
    write_contents(folder / "bad", bad);
    const bool pixel = at >= pixels && at < pixels_end;
    EXPECT_THAT(refusal_of({.what = (folder / "bad").string()}),
                StartsWith(pixel ? "no error" : "wire: "))
        << at;
    if (!pixel) continue;
    const DataSet set = open_file(folder / "bad");
    EXPECT_THAT(fault_text([&] { set.train->check(), set.test->check(); }), StartsWith("wire: "));
  }
}

TEST(PackFile, IsRefusedWhereverItIsCut) {
  const TemporaryFolder folder;
  write_divided(folder);
  pack_silently({.folder = folder / "in", .file = folder / "pack", .height = 3, .width = 3});
  const std::string good = contents(folder / "pack");
  for (std::size_t size = 0; size < good.size(); ++size) {
    write_contents(folder / "bad", good.substr(0, size));
    ASSERT_THAT(refusal_of({.what = (folder / "bad").string()}), StartsWith("wire: ")) << size;
  }
  write_contents(folder / "bad", good + " ");
  EXPECT_THAT(refusal_of({.what = (folder / "bad").string()}), StartsWith("wire: "));
}

// Opening a pipe that nobody writes to would wait for ever.
TEST(PackFile, IsNeverWaitedFor) {
  const TemporaryFolder folder;
  ASSERT_EQ(0, mkfifo((folder / "pack").c_str(), 0600));
  EXPECT_EQ("wire: '" + (folder / "pack").string() + "': it is no file",
            refusal_of({.what = (folder / "pack").string()}));
}

TEST(PackFile, IsToldFromOtherFiles) {
  const TemporaryFolder folder;
  for (const std::string& other : {std::string(), std::string("short"), std::string(100, 'x')}) {
    write_contents(folder / "other", other);
    EXPECT_THAT(refusal_of({.what = (folder / "other").string()}),
                HasSubstr("no file that narrowcast data pack has written"));
  }
}

TEST(PackFile, OutlivesItsName) {
  const TemporaryFolder folder;
  write_divided(folder);
  pack_silently(order_of(folder));
  const DataSet set = open_file(folder / "pack");
  std::filesystem::remove(folder / "pack");
  EXPECT_NO_THROW(set.train->check());
}

}  // namespace
}  // namespace narrowcast::test
