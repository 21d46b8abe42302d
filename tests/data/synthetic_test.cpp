#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/checksum.hpp"
#include "data/data.hpp"
#include "tests/data/files.hpp"

namespace narrowcast::test {
namespace {

using testing::HasSubstr;

DataWish wish_for(const ImageShape& shape, int classes, std::size_t images) {
  return {.what = "synthetic", .folder = {}, .shape = shape, .classes = classes, .images = images};
}

double distance(Bytes a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = std::to_integer<int>(a[i]) - b[i];
    sum += difference * difference;
  }
  return sum;
}

std::vector<std::vector<double>> class_means(const Images& images) {
  std::vector means(static_cast<std::size_t>(images.classes()),
                    std::vector<double>(images.shape().values()));
  std::vector<double> counts(means.size());
  for (std::size_t i = 0; i < images.size(); ++i) {
    const auto label = static_cast<std::size_t>(images.label(i));
    ++counts[label];
    for (std::size_t v = 0; v < means[label].size(); ++v)
      means[label][v] += std::to_integer<int>(images.pixels(i)[v]);
  }
  for (std::size_t label = 0; label < means.size(); ++label)
    for (double& value : means[label]) value /= counts[label];
  return means;
}

// The simplest learner there is: the nearest mean of the images for training.
TEST(Synthetic, CanBeLearned) {
  const DataSet set = open_data(wish_for({.channels = 1, .height = 28, .width = 28}, 10, 1000));
  const auto means = class_means(*set.train);
  int wrong = 0;
  for (std::size_t i = 0; i < set.test->size(); ++i) {
    std::size_t best = 0;
    for (std::size_t label = 1; label < means.size(); ++label)
      if (distance(set.test->pixels(i), means[label]) < distance(set.test->pixels(i), means[best]))
        best = label;
    wrong += static_cast<int>(best) == set.test->label(i) ? 0 : 1;
  }
  EXPECT_EQ(0, wrong);
}

TEST(Synthetic, IsTheSameEverywhere) {
  const DataSet set = open_data(wish_for({.channels = 3, .height = 9, .width = 5}, 4, 50));
  EXPECT_EQ(13965397177602585078u, checksum(set.train->pixels(49), checksum(set.train->pixels(0))));
  EXPECT_EQ(set.fingerprint,
            open_data(wish_for({.channels = 3, .height = 9, .width = 5}, 4, 50)).fingerprint);
}

TEST(Synthetic, HasOtherImagesForTests) {
  const DataSet set = open_data(wish_for({.channels = 3, .height = 8, .width = 8}, 10, 100));
  EXPECT_EQ(100u, set.train->size());
  EXPECT_EQ(12u, set.test->size());
  for (std::size_t i = 0; i < set.test->size(); ++i)
    EXPECT_NE(checksum(set.train->pixels(i)), checksum(set.test->pixels(i)));
  EXPECT_EQ(set.train->label(13), set.train->label(3));
  EXPECT_NE(checksum(set.train->pixels(13)), checksum(set.train->pixels(3)));
}

TEST(Synthetic, IsAboutNormal) {
  const DataSet set = open_data(wish_for({.channels = 3, .height = 32, .width = 32}, 10, 500));
  double sum = 0;
  double squares = 0;
  double count = 0;
  for (std::size_t i = 0; i < set.train->size(); ++i)
    for (const std::byte byte : set.train->pixels(i)) {
      const double value =
          (std::to_integer<int>(byte) / 255.0 - set.normal.mean[0]) / set.normal.deviation[0];
      sum += value;
      squares += value * value;
      ++count;
    }
  EXPECT_NEAR(0, sum / count, 0.1);
  EXPECT_NEAR(1, squares / count, 0.1);
}

TEST(Synthetic, RepeatsImagesRatherThanFillMemory) {
  const DataSet set = open_data(wish_for({.channels = 3, .height = 512, .width = 512}, 7, 100000));
  EXPECT_EQ(100000u, set.train->size());
  EXPECT_EQ(99999 % 7, set.train->label(99999));
  EXPECT_EQ(3u * 512 * 512, set.train->pixels(99999).size());
  const Bytes first = set.train->pixels(0);
  std::size_t again = 1;
  while (set.train->pixels(again).data() != first.data()) ++again;
  EXPECT_EQ(0u, again % 7);
}

TEST(Synthetic, RefusesNonsense) {
  EXPECT_THAT(refusal_of(wish_for({.channels = 0}, 10, 100)), HasSubstr("usage: "));
  EXPECT_THAT(refusal_of(wish_for({.height = 5000}, 10, 100)), HasSubstr("usage: "));
  EXPECT_THAT(refusal_of(wish_for({}, 0, 100)), HasSubstr("usage: "));
  EXPECT_THAT(refusal_of(wish_for({}, 10, 9)), HasSubstr("usage: "));
}

}  // namespace
}  // namespace narrowcast::test
