#include "data/source/statistics.hpp"

#include <algorithm>
#include <cmath>

#include "base/checksum.hpp"

namespace narrowcast {
namespace {

constexpr std::size_t kFingerprintImages = 64;

std::uint64_t add_to_fingerprint(std::uint64_t sum, const Images& images) {
  const ImageShape shape = images.shape();
  const std::array<std::uint64_t, 5> sizes = {
      images.size(), static_cast<std::uint64_t>(images.classes()),
      static_cast<std::uint64_t>(shape.channels), static_cast<std::uint64_t>(shape.height),
      static_cast<std::uint64_t>(shape.width)};
  sum = checksum(std::as_bytes(std::span(sizes)), sum);
  std::vector<std::int32_t> labels(images.size());
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = images.label(i);
  sum = checksum(std::as_bytes(std::span(labels)), sum);
  const std::size_t stride = std::max<std::size_t>(1, images.size() / kFingerprintImages);
  for (std::size_t i = 0; i < images.size(); i += stride) sum = checksum(images.pixels(i), sum);
  return sum;
}

}  // namespace

void Histogram::add(Bytes image) {
  const std::size_t plane = image.size() / counts_.size();
  for (auto& counts : counts_) {
    for (const std::byte value : image.first(plane)) ++counts[std::to_integer<std::size_t>(value)];
    image = image.subspan(plane);
  }
}

Normal Histogram::normal() const {
  Normal normal;
  for (const auto& counts : counts_) {
    double count = 0;
    double sum = 0;
    double squares = 0;
    for (std::size_t byte = 0; byte < counts.size(); ++byte) {
      const double value = static_cast<double>(byte) / 255;
      const auto times = static_cast<double>(counts[byte]);
      count += times;
      sum += times * value;
      squares += times * value * value;
    }
    const double mean = sum / count;
    const double deviation = std::sqrt(std::max(0.0, squares / count - mean * mean));
    normal.mean.push_back(static_cast<float>(mean));
    // Images of one colour have no deviation to divide by.
    normal.deviation.push_back(deviation > 0 ? static_cast<float>(deviation) : 1.0F);
  }
  return normal;
}

Normal normal_of(const Images& images) {
  Histogram histogram(images.shape().channels);
  for (std::size_t i = 0; i < images.size(); ++i) histogram.add(images.pixels(i));
  return histogram.normal();
}

std::uint64_t fingerprint_of(const Images& train, const Images& test) {
  return add_to_fingerprint(add_to_fingerprint(0, train), test);
}

}  // namespace narrowcast
