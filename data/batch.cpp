#include <fmt/core.h>

#include <algorithm>

#include "base/error.hpp"
#include "data/data.hpp"
#include "data/source/dice.hpp"

namespace narrowcast {
namespace {

// Beyond every image, and below what would overflow a side.
constexpr int kMostPad = 1 << 15;

// What each byte becomes.
using Levels = std::array<float, 256>;

Levels levels_of(const Preparation& how, int channel) {
  const auto at = static_cast<std::size_t>(channel);
  const float mean = how.normal == nullptr ? 0.0F : how.normal->mean[at];
  const float deviation = how.normal == nullptr ? 1.0F : how.normal->deviation[at];
  Levels levels = {};
  for (std::size_t byte = 0; byte < levels.size(); ++byte)
    levels[byte] = (static_cast<float>(byte) / 255.0F - mean) / deviation;
  return levels;
}

// Where the result's first row and column lie in the image; outside of it is the padding.
struct Window {
  int top = 0;
  int left = 0;
  bool flipped = false;
};

Window window_of(std::size_t image, const ImageShape& from, const ImageShape& to,
                 const Preparation& how) {
  const int down = from.height + 2 * how.pad - to.height;
  const int across = from.width + 2 * how.pad - to.width;
  if (!how.random) return {.top = down / 2 - how.pad, .left = across / 2 - how.pad};
  const Stream stream = dice::stream(how.seed, how.epoch, dice::Use::preparation);
  const PhiloxBlock words = random_words(stream, image);
  return {.top = dice::below(down + 1, words[0]) - how.pad,
          .left = dice::below(across + 1, words[1]) - how.pad,
          .flipped = how.flip && (words[2] & 1) != 0};
}

void fill_row(std::span<const std::byte> row, const Window& window, const Levels& levels,
              MutableFloats out) {
  const int width = static_cast<int>(out.size());
  const int first = std::clamp(-window.left, 0, width);
  const int last = std::clamp(static_cast<int>(row.size()) - window.left, first, width);
  std::fill(out.begin(), out.begin() + first, levels[0]);
  const auto skipped = static_cast<std::size_t>(std::max(window.left, 0));
  const auto inside = row.subspan(std::min(skipped, row.size()));
  const auto target =
      out.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first));
  for (std::size_t i = 0; i < target.size(); ++i)
    target[i] = levels[std::to_integer<std::size_t>(inside[i])];
  std::fill(out.begin() + last, out.end(), levels[0]);
  if (window.flipped) std::reverse(out.begin(), out.end());
}

struct Plane {
  Bytes pixels;
  int height = 0;
  int width = 0;
};

void fill_plane(const Plane& from, const Window& window, const Levels& levels, int to_width,
                MutableFloats out) {
  const auto width = static_cast<std::size_t>(to_width);
  for (int y = window.top; !out.empty(); ++y, out = out.subspan(width)) {
    const MutableFloats row = out.first(width);
    if (y < 0 || y >= from.height)
      std::fill(row.begin(), row.end(), levels[0]);
    else
      fill_row(
          from.pixels.subspan(static_cast<std::size_t>(y) * static_cast<std::size_t>(from.width),
                              static_cast<std::size_t>(from.width)),
          window, levels, row);
  }
}

void require_room(const Images& from, std::span<const std::size_t> images, const Preparation& how,
                  MutableFloats out, std::span<std::int64_t> labels) {
  const ImageShape to = prepared_shape(from.shape(), how);
  require(out.size() == images.size() * to.values() && labels.size() == images.size(), Fault::usage,
          "a batch does not have the size of its images");
  require(std::all_of(images.begin(), images.end(), [&](std::size_t i) { return i < from.size(); }),
          Fault::usage, "a batch asks for an image that there is not");
  const auto channels = static_cast<std::size_t>(to.channels);
  require(how.normal == nullptr ||
              (how.normal->mean.size() == channels && how.normal->deviation.size() == channels),
          Fault::usage, "images are normalised with another number of channels than they have");
}

}  // namespace

ImageShape prepared_shape(const ImageShape& shape, const Preparation& how) {
  require(how.pad >= 0 && how.crop >= 0, Fault::usage, "padding and crop are not negative");
  if (how.pad > kMostPad)
    throw Error(Fault::usage, fmt::format("a padding of {} is more than {}", how.pad, kMostPad));
  if (how.crop == 0) return shape;
  if (how.crop > std::min(shape.height, shape.width) + 2 * how.pad)
    throw Error(Fault::usage, fmt::format("images of {}x{} with a padding of {} have no crop of {}",
                                          shape.height, shape.width, how.pad, how.crop));
  return {.channels = shape.channels, .height = how.crop, .width = how.crop};
}

void fill_batch(const Images& from, std::span<const std::size_t> images, const Preparation& how,
                MutableFloats out, std::span<std::int64_t> labels) {
  require_room(from, images, how, out, labels);
  const ImageShape shape = from.shape();
  const ImageShape to = prepared_shape(shape, how);
  const std::size_t plane = ImageShape{1, shape.height, shape.width}.values();
  const std::size_t to_plane = ImageShape{1, to.height, to.width}.values();
  for (std::size_t i = 0; i < images.size(); ++i) labels[i] = from.label(images[i]);
  for (int channel = 0; channel < shape.channels; ++channel) {
    const auto at = static_cast<std::size_t>(channel);
    const Levels levels = levels_of(how, channel);
    for (std::size_t i = 0; i < images.size(); ++i)
      fill_plane({from.pixels(images[i]).subspan(at * plane, plane), shape.height, shape.width},
                 window_of(images[i], shape, to, how), levels, to.width,
                 out.subspan(i * to.values() + at * to_plane, to_plane));
  }
}

}  // namespace narrowcast
