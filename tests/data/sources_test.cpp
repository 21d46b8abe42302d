#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "data/data.hpp"
#include "tests/data/files.hpp"
#include "tests/support/bytes_in_files.hpp"
#include "tests/support/fault_text.hpp"
#include "tests/support/temporary_folder.hpp"

namespace narrowcast::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// Damages one file of a good folder and says what opening it says, which names the file.
class Damage {
 public:
  explicit Damage(void (*write)(const std::filesystem::path&)) : write_(write) {}

  std::string operator()(const std::string& name, const std::string& bytes) const {
    const TemporaryFolder folder;
    write_(folder.path());
    write_contents(folder / name, bytes);
    std::string text = refusal_of({.what = folder.path().string()});
    EXPECT_THAT(text, HasSubstr(folder.path().string()));
    return text;
  }

 private:
  void (*write_)(const std::filesystem::path&);
};

// The variable, for as long as this lives.
class DataVariable {
 public:
  explicit DataVariable(const std::filesystem::path& value) {
    ::setenv("NARROWCAST_DATA", value.c_str(), 1);
  }
  ~DataVariable() { ::unsetenv("NARROWCAST_DATA"); }
  DataVariable(const DataVariable&) = delete;
  DataVariable& operator=(const DataVariable&) = delete;
};

TEST(Idx, IsReadPlainAndCompressed) {
  const TemporaryFolder folder;
  write_mnist(folder.path());
  const DataSet set = open_data({.what = folder.path().string()});
  EXPECT_EQ(12u, set.train->size());
  EXPECT_EQ(5u, set.test->size());
  EXPECT_EQ((ImageShape{.channels = 1, .height = 3, .width = 4}), set.test->shape());
  EXPECT_EQ(10, set.train->classes());
  EXPECT_EQ(1, set.train->label(11));
  EXPECT_EQ(5, set.test->label(4));
  EXPECT_EQ(std::byte{12}, set.train->pixels(1)[0]);
  EXPECT_EQ(std::byte{59}, set.test->pixels(4)[11]);
}

TEST(Idx, IsRefusedWhenItIsDamaged) {
  const Damage damage(write_mnist);
  const std::string images = "train-images-idx3-ubyte";
  const std::string good = idx_images(12, 3, 4);
  EXPECT_THAT(damage(images, ""), StartsWith("wire: "));
  EXPECT_THAT(damage(images, good.substr(0, 15)), HasSubstr("too short"));
  EXPECT_THAT(damage(images, good.substr(0, 100)), HasSubstr("ends after 84 of 144 bytes"));
  EXPECT_THAT(damage(images, good + "x"), HasSubstr("goes on where it should end"));
  EXPECT_THAT(damage(images, idx_labels({1, 2, 3, 4})), HasSubstr("it starts with 00000801"));
  EXPECT_THAT(damage(images, idx_images(11, 3, 4)), HasSubstr("12 labels for the 11 images"));
  EXPECT_THAT(damage(images, idx_images(0, 3, 4)), HasSubstr("nothing in it"));
  EXPECT_THAT(damage(images, idx_images(12, 4, 3)), HasSubstr("another size"));
  std::string huge = good;
  huge.replace(4, 12, "\x7f\xff\xff\xff\x00\x00\x10\x00\x00\x00\x10\x00", 12);
  EXPECT_THAT(damage(images, huge), HasSubstr("ends after"));
  huge.replace(8, 4, "\x7f\xff\xff\xff");
  EXPECT_THAT(damage(images, huge), HasSubstr("too large"));
}

TEST(Idx, IsRefusedWithLabelsThatThereAreNot) {
  const Damage damage(write_mnist);
  EXPECT_THAT(damage("t10k-labels-idx1-ubyte", idx_labels({1, 2, 10, 3, 4})),
              HasSubstr("label 2 is 10, and there are 10 classes"));
}

TEST(Idx, IsRefusedWhenCompressedDataIsDamaged) {
  const Damage damage(write_mnist);
  const std::string name = "t10k-images-idx3-ubyte.gz";
  const std::string good = gzipped(idx_images(5, 3, 4));
  for (const std::size_t end : {std::size_t{11}, good.size() / 2, good.size() - 1})
    EXPECT_THAT(damage(name, good.substr(0, end)), StartsWith("wire: ")) << end;
  EXPECT_THAT(damage(name, good.substr(0, good.size() - 3)), HasSubstr("cut short"));
  std::string bad = good;
  bad[good.size() - 6] = static_cast<char>(bad[good.size() - 6] ^ 1);
  EXPECT_THAT(damage(name, bad), HasSubstr("damaged"));
}

// Opening a pipe that nobody writes to would wait for ever.
TEST(Idx, IsNeverWaitedFor) {
  const TemporaryFolder folder;
  write_mnist(folder.path());
  std::filesystem::remove(folder / "train-labels-idx1-ubyte");
  ASSERT_EQ(0, mkfifo((folder / "train-labels-idx1-ubyte").c_str(), 0600));
  EXPECT_THAT(refusal_of({.what = folder.path().string()}), HasSubstr("it is no file"));
}

TEST(Idx, SaysWhichFileIsMissing) {
  const TemporaryFolder folder;
  write_mnist(folder.path());
  std::filesystem::remove(folder / "t10k-labels-idx1-ubyte");
  EXPECT_EQ(
      "usage: folder '" + folder.path().string() + "' has no t10k-labels-idx1-ubyte, plain or .gz",
      refusal_of({.what = folder.path().string()}));
}

TEST(Cifar, IsRead) {
  const TemporaryFolder folder;
  write_cifar(folder.path(), 3);
  const DataSet set = open_data({.what = folder.path().string()});
  EXPECT_EQ(15u, set.train->size());
  EXPECT_EQ(3u, set.test->size());
  EXPECT_EQ((ImageShape{.channels = 3, .height = 32, .width = 32}), set.train->shape());
  EXPECT_EQ(7, set.train->label(14));  // the last of data_batch_5.bin
  EXPECT_EQ(std::byte{5 * 16 + 2}, set.train->pixels(14)[3071]);
  EXPECT_EQ("truck", set.class_names.at(9));
  EXPECT_EQ(3u, set.normal.mean.size());
}

// Opening a pipe that nobody writes to would wait for ever.
TEST(Cifar, IsNeverWaitedFor) {
  const TemporaryFolder folder;
  write_cifar(folder.path(), 3);
  std::filesystem::remove(folder / "test_batch.bin");
  ASSERT_EQ(0, mkfifo((folder / "test_batch.bin").c_str(), 0600));
  EXPECT_THAT(refusal_of({.what = folder.path().string()}), HasSubstr("it is no file"));
}

TEST(Cifar, IsRefusedWhenItIsDamaged) {
  const Damage damage([](const std::filesystem::path& folder) { write_cifar(folder, 3); });
  const std::string record = std::string(1, '\1') + std::string(3072, 'x');
  const std::string name = "data_batch_3.bin";
  EXPECT_THAT(damage(name, record + record), HasSubstr("it has 6146 bytes"));
  EXPECT_THAT(damage(name, record + record + record.substr(1)), StartsWith("wire: "));
  EXPECT_THAT(damage(name, ""), StartsWith("wire: "));
  EXPECT_THAT(damage(name, record + "\x0a" + record.substr(1) + record),
              HasSubstr("label 1 is 10, and there are 10 classes"));
  EXPECT_THAT(damage("test_batch.bin", record), StartsWith("wire: "));
}

TEST(Cifar, IsRefusedWhenNoFileHasWholeRecords) {
  const TemporaryFolder folder;
  write_cifar(folder.path(), 1);
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    write_contents(entry.path(), "cut");
  EXPECT_THAT(refusal_of({.what = folder.path().string()}),
              HasSubstr("no whole number of records"));
}

TEST(Cifar, SaysWhichFileIsMissing) {
  const TemporaryFolder folder;
  write_cifar(folder.path(), 1);
  std::filesystem::remove(folder / "test_batch.bin");
  EXPECT_THAT(refusal_of({.what = folder.path().string()}), HasSubstr("has no test_batch.bin"));
}

TEST(OpenData, FindsNamesInAFolder) {
  const TemporaryFolder folder;
  write_mnist(folder / "mnist");
  write_mnist(folder / "fashion-mnist");
  write_cifar(folder / "cifar-10-batches-bin", 1);
  for (const char* name : {"mnist", "fashion-mnist", "cifar10"})
    EXPECT_EQ(name, open_data({.what = name, .folder = folder.path()}).name);
  const DataSet mnist = open_data({.what = "mnist", .folder = folder / "mnist"});
  EXPECT_EQ(std::vector{0.1307F}, mnist.normal.mean);
  EXPECT_EQ(std::vector{0.3081F}, mnist.normal.deviation);
  const DataVariable variable(folder.path());
  EXPECT_EQ(12u, open_data({.what = "mnist"}).train->size());
  EXPECT_EQ(12u, open_data({.what = "fashion-mnist"}).train->size());
  EXPECT_EQ("ankle boot", open_data({}).class_names.back());
}

TEST(OpenData, TakesNoOtherSetForFashionMnist) {
  const TemporaryFolder folder;
  write_mnist(folder / "mnist");
  const DataVariable variable(folder / "mnist");
  const std::string text = fault_text([] {
    if (open_data({}).train->size() == 12) throw Error(Fault::usage, "it was taken");
  });
  EXPECT_THAT(text, testing::Not(HasSubstr("it was taken")));
}

TEST(OpenData, SaysHowToGetWhatIsMissing) {
  const TemporaryFolder folder;
  const std::string where = folder.path().string();
  EXPECT_EQ(
      "usage: there is no fashion-mnist in '" + where + "': apt-get install dataset-fashion-mnist",
      refusal_of({.what = "fashion-mnist", .folder = where}));
  EXPECT_THAT(refusal_of({.what = "mnist", .folder = where}), HasSubstr("four IDX files"));
  EXPECT_THAT(refusal_of({.what = "cifar10"}), HasSubstr("NARROWCAST_DATA"));
  EXPECT_THAT(refusal_of({.what = where}), HasSubstr("narrowcast data pack"));
  EXPECT_EQ(
      "usage: 'mnits' is no data set (fashion-mnist, mnist, cifar10, synthetic), folder or "
      "file",
      refusal_of({.what = "mnits"}));
  write_contents(folder / "file", "something");
  EXPECT_THAT(refusal_of({.what = (folder / "file").string()}), StartsWith("wire: "));
}

TEST(OpenData, TellsSetsApartByFingerprint) {
  const TemporaryFolder folder;
  write_mnist(folder.path());
  const DataWish wish = {.what = folder.path().string()};
  const std::uint64_t before = open_data(wish).fingerprint;
  EXPECT_EQ(before, open_data(wish).fingerprint);
  write_contents(folder / "t10k-labels-idx1-ubyte", idx_labels({9, 8, 7, 6, 4}));
  EXPECT_NE(before, open_data(wish).fingerprint);
}

}  // namespace
}  // namespace narrowcast::test
