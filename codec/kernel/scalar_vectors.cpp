#include <algorithm>
#include <bit>
#include <cmath>

#include "codec/kernel/kernels.hpp"

// Specification of the kernels that look at whole vectors, of the dice, and of codebooks.
namespace narrowcast::kernel {
namespace {

constexpr std::uint32_t kMagnitude = 0x7fffffffu;

float absmax(const float* x, std::size_t n) {
  std::uint32_t largest = 0;
  for (std::size_t i = 0; i < n; ++i)
    largest = std::max(largest, std::bit_cast<std::uint32_t>(x[i]) & kMagnitude);
  return std::bit_cast<float>(largest);
}

double squares(const float* x, std::size_t n) {
  std::array<double, 8> lane{};
  for (std::size_t i = 0; i < n; ++i) {
    const double v = x[i];
    lane[i % 8] += v * v;  // exact: 24 + 24 bits fit a double, so fusing would change nothing
  }
  return ((lane[0] + lane[4]) + (lane[1] + lane[5])) + ((lane[2] + lane[6]) + (lane[3] + lane[7]));
}

void scale(const float* x, std::size_t n, float factor, float* out) {
  for (std::size_t i = 0; i < n; ++i) out[i] = x[i] * factor;
}

void add_scaled(const float* x, std::size_t n, float factor, float* sum) {
  for (std::size_t i = 0; i < n; ++i) sum[i] += x[i] * factor;
}

void settle(const float* decoded, std::size_t n, float* residual) {
  for (std::size_t i = 0; i < n; ++i) {
    const float left = residual[i] - decoded[i];
    residual[i] = std::isfinite(left) ? left : 0;
  }
}

void random_groups(const Stream& stream, std::uint64_t first_group, std::size_t groups,
                   std::uint16_t* out) {
  for (std::size_t i = 0; i < groups * kRandomGroup; ++i)
    out[i] = random16(stream, first_group * kRandomGroup + i);
}

void codebook_encode(const float* x, std::size_t n, float inverse, const Codebook& book,
                     std::uint8_t* codes) {
  for (std::size_t i = 0; i < n; ++i) {
    const float ratio = x[i] * inverse;
    const Codebook::Side& side = book.side(std::signbit(ratio) ? Sign::negative : Sign::positive);
    const auto above =
        std::lower_bound(side.thresholds.begin(), side.thresholds.end(), std::fabs(ratio));
    codes[i] = side.codes[static_cast<std::size_t>(above - side.thresholds.begin())];
  }
}

template <Into into>
void lookup(const std::uint8_t* codes, std::size_t n, const float* table, float* out) {
  for (std::size_t i = 0; i < n; ++i)
    out[i] = into == Into::sum ? out[i] + table[codes[i]] : table[codes[i]];
}

}  // namespace

void scalar_vectors(Kernels& table) {
  table.absmax = absmax;
  table.squares = squares;
  table.scale = scale;
  table.add_scaled = add_scaled;
  table.settle = settle;
  table.random16 = random_groups;
  table.codebook_encode = codebook_encode;
  table.lookup = {lookup<Into::overwrite>, lookup<Into::sum>};
}

}  // namespace narrowcast::kernel
