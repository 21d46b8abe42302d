#include "codec/samples.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <string>

#include "base/error.hpp"

namespace narrowcast {
namespace {

// One Philox counter gives four words, and they four values.
using Four = std::array<float, 4>;
constexpr std::size_t kGroup = std::tuple_size_v<Four>;

// Fills `out` from groups of four; the first and the last may be needed in part only.
template <class FourOf>
void draw_groups(std::uint64_t first_index, MutableFloats out, FourOf four_of) {
  while (!out.empty()) {
    const Four values = four_of(first_index / kGroup);
    const std::size_t skip = first_index % kGroup;
    const std::size_t count = std::min(kGroup - skip, out.size());
    std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(skip), count, out.begin());
    out = out.subspan(count);
    first_index += count;
  }
}

// In (0, 1), ends excluded also after rounding, so that the logarithm is finite.
float unit(std::uint32_t word) { return (static_cast<float>(word >> 9) + 0.5f) * 0x1p-23f; }
double fine_unit(std::uint32_t word) { return (word + 0.5) * 0x1p-32; }

void draw_uniform(const Stream& stream, std::uint64_t first_index, MutableFloats out) {
  draw_groups(first_index, out, [&](std::uint64_t group) {
    const PhiloxBlock words = random_words(stream, group);
    return Four{unit(words[0]), unit(words[1]), unit(words[2]), unit(words[3])};
  });
}

// Box and Muller: two normals from two uniforms.
Four four_normals(const PhiloxBlock& words, double deviation) {
  Four out;
  for (std::size_t i = 0; i < kGroup; i += 2) {
    const double radius = deviation * std::sqrt(-2 * std::log(fine_unit(words[i])));
    const double angle = 2 * std::numbers::pi * fine_unit(words[i + 1]);
    out[i] = static_cast<float>(radius * std::cos(angle));
    out[i + 1] = static_cast<float>(radius * std::sin(angle));
  }
  return out;
}

template <int kTenths>
void draw_normal(const Stream& stream, std::uint64_t first_index, MutableFloats out) {
  draw_groups(first_index, out, [&](std::uint64_t group) {
    return four_normals(random_words(stream, group), kTenths / 10.0);
  });
}

// The lowest bit of the word is the sign, the high ones the size.
float laplace(std::uint32_t word, float scale) {
  const float size = -scale * std::log(unit(word));
  return (word & 1) != 0 ? size : -size;
}

void draw_laplace(const Stream& stream, std::uint64_t first_index, MutableFloats out) {
  draw_groups(first_index, out, [&](std::uint64_t group) {
    const PhiloxBlock words = random_words(stream, group);
    return Four{laplace(words[0], 1), laplace(words[1], 1), laplace(words[2], 1),
                laplace(words[3], 1)};
  });
}

// What a back-propagated gradient looks like from afar: sharply peaked, with a scale that differs
// from layer to layer by orders of magnitude, and with the exact zeros that ReLU leaves.
constexpr std::uint64_t kSegment = 1024;  // values that share a scale
constexpr double kMedianScale = 1e-3;     // of the segments
constexpr double kScaleDecades = 0.5;     // one sigma: six of them span three decades
constexpr std::uint32_t kZeroBelow = 13;  // of 256: 5.08 % zeros

float segment_scale(const Stream& stream, std::uint64_t segment) {
  const Stream scales{.key = stream.key, .salt = ~stream.salt};
  const Four normals = four_normals(random_words(scales, segment), kScaleDecades);
  return static_cast<float>(kMedianScale * std::pow(10.0, normals[0]));
}

void draw_gradient(const Stream& stream, std::uint64_t first_index, MutableFloats out) {
  std::uint64_t segment = std::numeric_limits<std::uint64_t>::max();
  float scale = 0;
  draw_groups(first_index, out, [&](std::uint64_t group) {
    if (group * kGroup / kSegment != segment) {
      segment = group * kGroup / kSegment;
      scale = segment_scale(stream, segment);
    }
    const PhiloxBlock words = random_words(stream, group);
    Four values;
    for (std::size_t i = 0; i < kGroup; ++i)  // bits 1..8 are in neither the sign nor the size
      values[i] = (words[i] >> 1 & 0xff) < kZeroBelow ? 0.0f : laplace(words[i], scale);
    return values;
  });
}

constexpr Distribution kDistributions[] = {
    {"uniform", "U(0,1)", draw_uniform},
    {"normal", "N(0,1)", draw_normal<10>},
    {"normal10", "N(0,10^2)", draw_normal<100>},
    {"normal.2", "N(0,0.2^2)", draw_normal<2>},
    {"laplace", "Laplace(0,1)", draw_laplace},
    {"gradient", "Laplace, a scale for each 1024 values over three decades, 5 % exact zeros",
     draw_gradient},
};

}  // namespace

std::span<const Distribution> distributions() { return kDistributions; }

const Distribution& distribution(std::string_view name) {
  const auto found = std::ranges::find(kDistributions, name, &Distribution::name);
  if (found != std::end(kDistributions)) return *found;
  std::string message = "unknown distribution '" + std::string(name) + "'; there are";
  for (const Distribution& known : kDistributions) message.append(" ").append(known.name);
  throw Error(Fault::usage, message);
}

}  // namespace narrowcast
