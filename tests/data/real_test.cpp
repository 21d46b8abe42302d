#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <set>

#include "base/checksum.hpp"
#include "data/data.hpp"
#include "tests/data/files.hpp"
#include "tests/support/temporary_folder.hpp"

namespace narrowcast::test {
namespace {

std::map<int, int> label_counts(const Images& images) {
  std::map<int, int> counts;
  for (std::size_t i = 0; i < images.size(); ++i) ++counts[images.label(i)];
  return counts;
}

std::map<int, int> evenly(int images) {
  std::map<int, int> counts;
  for (int label = 0; label < 10; ++label) counts[label] = images / 10;
  return counts;
}

TEST(RealData, HasMnist) {
  const auto folder = real_data("mnist");
  if (!folder) GTEST_SKIP() << "NARROWCAST_TEST_DATA names no folder with mnist/";
  const DataSet set = open_data({.what = "mnist", .folder = *folder});
  EXPECT_EQ(60000u, set.train->size());
  EXPECT_EQ(10000u, set.test->size());
  EXPECT_EQ((ImageShape{.channels = 1, .height = 28, .width = 28}), set.train->shape());
  EXPECT_EQ(5, set.train->label(0));
  EXPECT_EQ(7, set.test->label(0));
  EXPECT_EQ(5923, label_counts(*set.train)[0]);
  // Under its path it has no name, and the figures are counted.
  const DataSet unnamed = open_data({.what = folder->string()});
  EXPECT_EQ(set.normal.mean, unnamed.normal.mean);
  EXPECT_EQ(set.normal.deviation, unnamed.normal.deviation);
  EXPECT_EQ(set.fingerprint, unnamed.fingerprint);
}

TEST(RealData, HasCifar10) {
  const auto folder = real_data("cifar10");
  if (!folder || !std::filesystem::exists(*folder / "data_batch_1.bin"))
    GTEST_SKIP() << "NARROWCAST_TEST_DATA names no folder with cifar10/data_batch_1.bin";
  const DataSet set = open_data({.what = "cifar10", .folder = *folder});
  EXPECT_EQ(50000u, set.train->size());
  EXPECT_EQ(10000u, set.test->size());
  EXPECT_EQ(evenly(50000), label_counts(*set.train));
  EXPECT_EQ(evenly(10000), label_counts(*set.test));
}

// Label and pixels of every image, in no order.
std::multiset<std::uint64_t> hashes_of(std::initializer_list<const Images*> parts) {
  std::multiset<std::uint64_t> hashes;
  for (const Images* images : parts)
    for (std::size_t i = 0; i < images->size(); ++i)
      hashes.insert(checksum(images->pixels(i), static_cast<std::uint64_t>(images->label(i))));
  return hashes;
}

class Silent final : public PackProgress {
 public:
  void packed(std::size_t, std::size_t) override {}
};

TEST(RealData, PacksTheJpegsOfCifar10) {
  const auto folder = real_data("cifar10");
  if (!folder || !std::filesystem::exists(*folder / "cifar10-jpeg.tar.xz"))
    GTEST_SKIP() << "NARROWCAST_TEST_DATA names no folder with cifar10/cifar10-jpeg.tar.xz";
  const TemporaryFolder here;
  const std::string extract = "tar -xJf '" + (*folder / "cifar10-jpeg.tar.xz").string() + "' -C '" +
                              here.path().string() + "' test";
  ASSERT_EQ(0, std::system(extract.c_str()));
  Silent progress;
  const Packed packed = pack({.folder = here / "test", .file = here / "pack"}, progress);
  EXPECT_EQ(10000u, packed.images);
  EXPECT_EQ(1000u, packed.test_images);
  const DataSet set = open_data({.what = (here / "pack").string()});
  set.train->check();
  set.test->check();
  EXPECT_EQ(evenly(9000), label_counts(*set.train));
  EXPECT_EQ(evenly(1000), label_counts(*set.test));
  if (!std::filesystem::exists(*folder / "test_batch.bin")) return;
  // Another decoder made the binary files of the same JPEGs.
  const DataSet binary = open_data({.what = folder->string()});
  EXPECT_EQ(binary.class_names, set.class_names);
  EXPECT_EQ(hashes_of({binary.test.get()}), hashes_of({set.train.get(), set.test.get()}));
}

TEST(RealData, HasFashionMnist) {
  if (!std::filesystem::exists("/usr/share/datasets/fashion-mnist"))
    GTEST_SKIP() << "the package dataset-fashion-mnist is not installed";
  const DataSet set = open_data({});
  EXPECT_EQ(60000u, set.train->size());
  EXPECT_EQ(evenly(60000), label_counts(*set.train));
  const DataSet unnamed = open_data({.what = "/usr/share/datasets/fashion-mnist"});
  EXPECT_EQ(set.normal.mean, unnamed.normal.mean);
  EXPECT_EQ(set.normal.deviation, unnamed.normal.deviation);
}

}  // namespace
}  // namespace narrowcast::test
