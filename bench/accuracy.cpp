#include "bench/accuracy.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace narrowcast::bench {
namespace {

double bits_each(std::size_t bytes, std::size_t values) {
  return values == 0 ? 0 : 8.0 * static_cast<double>(bytes) / static_cast<double>(values);
}

double largest_magnitude(Floats values) {
  float largest = 0;
  for (const float x : values) largest = std::max(largest, std::abs(x));
  return largest;
}

std::optional<std::size_t> broken_in_block(const Promise& promise, Floats exact, Floats decoded) {
  const double of_block = promise.of_block * largest_magnitude(exact);
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const double x = std::abs(static_cast<double>(exact[i]));
    const double allowed = std::max({of_block, promise.of_value * x, promise.absolute});
    const double error = std::abs(static_cast<double>(exact[i]) - static_cast<double>(decoded[i]));
    if (x <= promise.largest && !(error <= allowed)) return i;
  }
  return std::nullopt;
}

}  // namespace

double nominal_bits(const Codec& codec) {
  constexpr std::size_t kValues = std::size_t{1} << 20;
  return bits_each(codec.max_bytes(kValues), kValues);
}

Accuracy measure_accuracy(const Codec& codec, Floats samples, const Stream& stream) {
  std::vector<std::byte> wire(codec.max_bytes(samples.size()));
  const std::size_t used = codec.encode(samples, wire, {.stream = stream});
  std::vector<float> decoded(samples.size());
  codec.decode(Bytes(wire).first(used), decoded);
  Accuracy result;
  result.distortion.add(samples, decoded);
  result.bits_per_value = bits_each(used, samples.size());
  return result;
}

std::optional<std::size_t> broken_promise(const Promise& promise, Floats exact, Floats decoded) {
  const std::size_t block = promise.block == 0 ? exact.size() : promise.block;
  for (std::size_t begin = 0; begin < exact.size(); begin += block) {
    const std::size_t count = std::min(block, exact.size() - begin);
    const auto broken =
        broken_in_block(promise, exact.subspan(begin, count), decoded.subspan(begin, count));
    if (broken) return begin + *broken;
  }
  return std::nullopt;
}

}  // namespace narrowcast::bench
