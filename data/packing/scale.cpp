#include <algorithm>
#include <cmath>
#include <span>

#include "data/packing/jpeg.hpp"

namespace narrowcast::packing {
namespace {

// What makes one row or column of the result: weights of neighbours, which add up to one.
struct Blend {
  std::size_t first = 0;
  std::vector<float> weights;
};

// A triangle over every place of the result, as wide as two of its own pixels or two of the
// original's, whichever is more: smooth when it grows, without aliases when it shrinks.
std::vector<Blend> blends_of(int extent, int to, double scale) {
  const double start = (extent - to * scale) / 2;
  const double reach = std::max(scale, 1.0);
  std::vector<Blend> blends(static_cast<std::size_t>(to));
  for (int i = 0; i < to; ++i) {
    const double middle = start + (i + 0.5) * scale;
    const int first = std::max(0, static_cast<int>(std::floor(middle - reach)));
    const int last = std::min(extent - 1, static_cast<int>(std::ceil(middle + reach)));
    Blend& blend = blends[static_cast<std::size_t>(i)];
    blend.first = static_cast<std::size_t>(first);
    double sum = 0;
    for (int at = first; at <= last; ++at) {
      const double weight = std::max(0.0, 1 - std::abs(at + 0.5 - middle) / reach);
      blend.weights.push_back(static_cast<float>(weight));
      sum += weight;
    }
    for (float& weight : blend.weights) weight = static_cast<float>(weight / sum);
  }
  return blends;
}

// All rows, as narrow as the result.
std::vector<float> narrowed(const Picture& picture, const std::vector<Blend>& blends) {
  std::vector<float> out;
  out.reserve(static_cast<std::size_t>(picture.height) * blends.size() * 3);
  const std::size_t row_bytes = static_cast<std::size_t>(picture.width) * 3;
  for (std::size_t at = 0; at < picture.values.size(); at += row_bytes)
    for (const Blend& blend : blends)
      for (std::size_t c = 0; c < 3; ++c) {
        float sum = 0;
        for (std::size_t k = 0; k < blend.weights.size(); ++k)
          sum += blend.weights[k] *
                 std::to_integer<std::uint8_t>(picture.values[at + (blend.first + k) * 3 + c]);
        out.push_back(sum);
      }
  return out;
}

// A row of the result.
void add_row(std::span<const float> rows, std::size_t row_values, const Blend& blend,
             std::vector<std::byte>& out) {
  for (std::size_t i = 0; i < row_values; ++i) {
    float sum = 0;
    for (std::size_t k = 0; k < blend.weights.size(); ++k)
      sum += blend.weights[k] * rows[(blend.first + k) * row_values + i];
    out.push_back(static_cast<std::byte>(std::clamp(sum + 0.5F, 0.0F, 255.0F)));
  }
}

}  // namespace

Picture scaled(const Picture& picture, int height, int width) {
  if (picture.height == height && picture.width == width) return picture;
  // Original pixels for one of the result; the side that has fewer to give decides.
  const double scale = std::min(static_cast<double>(picture.height) / height,
                                static_cast<double>(picture.width) / width);
  const std::vector<float> rows = narrowed(picture, blends_of(picture.width, width, scale));
  Picture result = {.height = height, .width = width, .values = {}};
  const std::size_t row_values = static_cast<std::size_t>(width) * 3;
  for (const Blend& blend : blends_of(picture.height, height, scale))
    add_row(rows, row_values, blend, result.values);
  return result;
}

}  // namespace narrowcast::packing
