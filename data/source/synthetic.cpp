#include <fmt/core.h>

#include <algorithm>
#include <memory>

#include "base/error.hpp"
#include "data/source/dice.hpp"
#include "data/source/source.hpp"

namespace narrowcast::source {
namespace {

constexpr std::uint64_t kSeed = 2016;
constexpr int kGrid = 4;       // a pattern is smooth between so many points
constexpr int kContrast = 32;  // of a pattern; noise has twice that
constexpr std::size_t kMostBytes = std::size_t{64}
                                   << 20;  // of pixels; more images are the same again
constexpr int kMostSide = 4096;
constexpr std::size_t kTestShare = 8;

int mixed(int a, int b, int weight, int of) { return (a * (of - weight) + b * weight) / of; }

// The pattern of a class in one channel, between -kContrast and kContrast. In whole numbers, so that
// every machine makes the same images.
class Pattern {
 public:
  Pattern(int label, int channel) {
    const Stream stream =
        dice::stream(kSeed, static_cast<std::uint64_t>(label), dice::Use::pattern);
    std::uint64_t at = static_cast<std::uint64_t>(channel) * kGrid * kGrid;
    for (auto& row : points_)
      for (int& point : row)
        point = dice::below(2 * kContrast + 1, random_words(stream, at++)[0]) - kContrast;
  }

  void fill_row(int y, int height, MutableBytes row) const {
    const auto [before, down] = position(y, height);
    std::array<int, kGrid> line = {};
    for (int i = 0; i < kGrid; ++i)
      line[static_cast<std::size_t>(i)] =
          mixed(point(before, i), point(std::min(before + 1, kGrid - 1), i), down, height);
    const int width = static_cast<int>(row.size());
    for (int x = 0; x < width; ++x) {
      const auto [left, across] = position(x, width);
      const auto at = static_cast<std::size_t>(left);
      row[static_cast<std::size_t>(x)] =
          static_cast<std::byte>(128 + mixed(line[at], line[at + 1], across, width));
    }
  }

 private:
  // Which point of the grid comes before it, and how far it is from there, in parts of `extent`.
  static std::pair<int, int> position(int at, int extent) {
    return {at * (kGrid - 1) / extent, at * (kGrid - 1) % extent};
  }
  int point(int row, int column) const {
    return points_[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)];
  }

  std::array<std::array<int, kGrid>, kGrid> points_ = {};
};

class SyntheticImages final : public Images {
 public:
  // Of two that differ in `part`, no image is the same.
  SyntheticImages(const DataWish& wish, std::size_t images, std::uint64_t part)
      : shape_(wish.shape), classes_(wish.classes), size_(images) {
    const auto each = static_cast<std::size_t>(classes_);
    // Whole rounds of classes, so that an image has the label of the one whose pixels it shares.
    const std::size_t rounds = std::max<std::size_t>(1, kMostBytes / shape_.values() / each);
    distinct_ = std::min(images, rounds * each);
    pixels_.resize(distinct_ * shape_.values());
    fill_patterns();
    add_noise(dice::stream(kSeed, part, dice::Use::noise));
  }

  std::size_t size() const override { return size_; }
  ImageShape shape() const override { return shape_; }
  int classes() const override { return classes_; }
  int label(std::size_t image) const override {
    return static_cast<int>(image % static_cast<std::size_t>(classes_));
  }
  Bytes pixels(std::size_t image) const override {
    return Bytes(pixels_).subspan(image % distinct_ * shape_.values(), shape_.values());
  }

 private:
  void fill_patterns() {
    const std::size_t first = std::min(distinct_, static_cast<std::size_t>(classes_));
    const auto width = static_cast<std::size_t>(shape_.width);
    MutableBytes to = pixels_;
    for (std::size_t image = 0; image < first; ++image)
      for (int channel = 0; channel < shape_.channels; ++channel) {
        const Pattern pattern(label(image), channel);
        for (int y = 0; y < shape_.height; ++y, to = to.subspan(width))
          pattern.fill_row(y, shape_.height, to.first(width));
      }
    const std::size_t round = first * shape_.values();
    for (std::size_t at = round; at < pixels_.size(); ++at) pixels_[at] = pixels_[at - round];
  }

  // A value is 128 +- 32 of pattern and +- 64 of noise, so it stays within a byte.
  void add_noise(const Stream& stream) {
    for (std::size_t at = 0; at < pixels_.size(); at += sizeof(PhiloxBlock)) {
      const PhiloxBlock words = random_words(stream, at / sizeof(PhiloxBlock));
      const Bytes dice = std::as_bytes(std::span(words));
      for (std::size_t i = 0; i < std::min(dice.size(), pixels_.size() - at); ++i)
        pixels_[at + i] = static_cast<std::byte>(std::to_integer<int>(pixels_[at + i]) +
                                                 std::to_integer<int>(dice[i]) / 2 - 64);
    }
  }

  ImageShape shape_;
  int classes_;
  std::size_t size_;
  std::size_t distinct_ = 0;
  std::vector<std::byte> pixels_;
};

void require_sense(const DataWish& wish) {
  for (const int extent : {wish.shape.channels, wish.shape.height, wish.shape.width})
    if (extent < 1 || extent > kMostSide)
      throw Error(Fault::usage,
                  fmt::format("synthetic images have sides of 1 to {}, not {}", kMostSide, extent));
  if (wish.classes < 1 || wish.images < static_cast<std::size_t>(wish.classes))
    throw Error(Fault::usage, fmt::format("{} synthetic images cannot have {} classes", wish.images,
                                          wish.classes));
}

}  // namespace

DataSet make_synthetic(const DataWish& wish) {
  require_sense(wish);
  const auto classes = static_cast<std::size_t>(wish.classes);
  const auto channels = static_cast<std::size_t>(wish.shape.channels);
  DataSet set;
  set.train = std::make_unique<SyntheticImages>(wish, wish.images, 0);
  set.test =
      std::make_unique<SyntheticImages>(wish, std::max(classes, wish.images / kTestShare), 1);
  set.normal = {.mean = std::vector<float>(channels, 0.5F),
                .deviation = std::vector<float>(channels, 0.15F)};
  for (int label = 0; label < wish.classes; ++label)
    set.class_names.push_back(std::to_string(label));
  return set;
}

}  // namespace narrowcast::source
