#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>

#include "data/data.hpp"
#include "tests/support/fault_text.hpp"

namespace narrowcast::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Every value says where it is: 100 * channel + 10 * y + x + 1, plus 5 for the second image.
class Numbered final : public Images {
 public:
  Numbered(int channels, int height, int width)
      : shape_{.channels = channels, .height = height, .width = width} {
    for (const int image : {0, 5})
      for (int c = 0; c < channels; ++c)
        for (int y = 0; y < height; ++y)
          for (int x = 0; x < width; ++x)
            values_.push_back(static_cast<std::byte>(100 * c + 10 * y + x + 1 + image));
  }
  std::size_t size() const override { return 2; }
  ImageShape shape() const override { return shape_; }
  int classes() const override { return 10; }
  int label(std::size_t image) const override { return static_cast<int>(image) + 7; }
  Bytes pixels(std::size_t image) const override {
    return Bytes(values_).subspan(image * shape_.values(), shape_.values());
  }

 private:
  ImageShape shape_;
  std::vector<std::byte> values_;
};

struct Batch {
  std::vector<float> values;
  std::vector<std::int64_t> labels;
};

Batch batch_of(const Images& from, const std::vector<std::size_t>& images, const Preparation& how) {
  Batch batch;
  batch.values.resize(images.size() * prepared_shape(from.shape(), how).values());
  batch.labels.resize(images.size());
  fill_batch(from, images, how, batch.values, batch.labels);
  return batch;
}

// In whole numbers, as the images have them.
std::vector<int> numbers(const Batch& batch) {
  std::vector<int> all;
  for (const float value : batch.values) all.push_back(static_cast<int>(value * 255 + 0.5F));
  return all;
}

TEST(FillBatch, TakesImagesAsTheyAre) {
  const Numbered images(2, 2, 2);
  const Batch batch = batch_of(images, {1, 0, 1}, {});
  EXPECT_THAT(numbers(batch), ElementsAre(6, 7, 16, 17, 106, 107, 116, 117,  //
                                          1, 2, 11, 12, 101, 102, 111, 112,  //
                                          6, 7, 16, 17, 106, 107, 116, 117));
  EXPECT_THAT(batch.labels, ElementsAre(8, 7, 8));
}

TEST(FillBatch, NormalisesEachChannelByItself) {
  const Numbered images(2, 1, 1);
  const Normal normal = {.mean = {0.5F, 0.25F}, .deviation = {0.5F, 2.0F}};
  const Batch batch = batch_of(images, {0}, {.normal = &normal});
  EXPECT_THAT(batch.values, ElementsAre((1 / 255.0F - 0.5F) / 0.5F, (101 / 255.0F - 0.25F) / 2.0F));
}

TEST(FillBatch, CropsTheMiddleForTests) {
  const Numbered images(1, 4, 6);
  EXPECT_THAT(numbers(batch_of(images, {0}, {.crop = 2})), ElementsAre(13, 14, 23, 24));
  EXPECT_THAT(numbers(batch_of(images, {0}, {.pad = 3, .crop = 2, .flip = true})),
              ElementsAre(13, 14, 23, 24));
}

TEST(FillBatch, PadsWithBlack) {
  const Numbered images(1, 2, 2);
  EXPECT_THAT(numbers(batch_of(images, {0}, {.pad = 1, .crop = 4})),
              ElementsAre(0, 0, 0, 0, 0, 1, 2, 0, 0, 11, 12, 0, 0, 0, 0, 0));
  const Normal normal = {.mean = {0.5F}, .deviation = {0.5F}};
  EXPECT_EQ(-1.0F, batch_of(images, {0}, {.normal = &normal, .pad = 1, .crop = 4}).values[0]);
}

// All 9 crops of an image with a padding of 1, as it is and flipped; each equally often.
TEST(FillBatch, ReachesEveryCropAndFlipEquallyOften) {
  const Numbered images(1, 2, 2);
  std::map<std::vector<int>, int> seen;
  constexpr int kEpochs = 18000;
  for (std::uint64_t epoch = 0; epoch < kEpochs; ++epoch)
    ++seen[numbers(batch_of(images, {0},
                            {.pad = 1, .flip = true, .random = true, .seed = 9, .epoch = epoch}))];
  ASSERT_EQ(18u, seen.size());
  EXPECT_TRUE(seen.contains({1, 2, 11, 12}));
  EXPECT_TRUE(seen.contains({2, 1, 12, 11}));
  EXPECT_TRUE(seen.contains({0, 0, 0, 1}));
  EXPECT_TRUE(seen.contains({12, 0, 0, 0}));
  for (const auto& [values, times] : seen) EXPECT_NEAR(1000, times, 150);  // 5 deviations
}

// With so much padding, most crops miss the image altogether.
TEST(FillBatch, MayCropPaddingAlone) {
  const Numbered images(1, 2, 2);
  std::map<std::vector<int>, int> seen;
  for (std::uint64_t epoch = 0; epoch < 2000; ++epoch)
    ++seen[numbers(batch_of(images, {0}, {.pad = 4, .crop = 1, .random = true, .epoch = epoch}))];
  EXPECT_EQ(5u, seen.size());
  EXPECT_GT(seen[{0}], seen[{1}]);
}

TEST(FillBatch, CropsAtRandomFromLargerImages) {
  const Numbered images(1, 3, 3);
  std::map<int, int> corners;
  for (std::uint64_t epoch = 0; epoch < 200; ++epoch)
    ++corners[numbers(batch_of(images, {0}, {.crop = 2, .random = true, .epoch = epoch}))[0]];
  std::vector<int> found;
  for (const auto& [corner, times] : corners) found.push_back(corner);
  EXPECT_THAT(found, ElementsAre(1, 2, 11, 12));
}

TEST(FillBatch, ThrowsTheSameDiceInAnyBatch) {
  const Numbered images(3, 5, 5);
  const Preparation how = {.pad = 2, .flip = true, .random = true, .seed = 4, .epoch = 6};
  const std::vector<int> both = numbers(batch_of(images, {0, 1}, how));
  const std::vector<int> second = numbers(batch_of(images, {1}, how));
  EXPECT_EQ(second, std::vector<int>(both.begin() + 75, both.end()));
}

TEST(FillBatch, RefusesWhatDoesNotFit) {
  const Numbered images(2, 2, 2);
  std::vector<float> values(8);
  std::vector<std::int64_t> labels(1);
  const auto refusal = [&](const std::vector<std::size_t>& which, const Preparation& how) {
    return fault_text([&] { fill_batch(images, which, how, values, labels); });
  };
  const Normal grey = {.mean = {0}, .deviation = {1}};
  const std::vector<std::size_t> first = {0};
  EXPECT_EQ("no error", refusal(first, {}));
  EXPECT_THAT(refusal({0, 1}, {}), HasSubstr("usage: "));
  EXPECT_THAT(refusal({2}, {}), HasSubstr("usage: "));
  EXPECT_THAT(refusal(first, {.normal = &grey}), HasSubstr("usage: "));
  EXPECT_THAT(refusal(first, {.crop = 1}), HasSubstr("usage: "));
  EXPECT_EQ("usage: images of 2x2 with a padding of 1 have no crop of 5",
            refusal(first, {.pad = 1, .crop = 5}));
  EXPECT_THAT(refusal(first, {.pad = -1}), HasSubstr("usage: "));
  EXPECT_THAT(refusal(first, {.pad = std::numeric_limits<int>::max()}), HasSubstr("usage: "));
}

}  // namespace
}  // namespace narrowcast::test
