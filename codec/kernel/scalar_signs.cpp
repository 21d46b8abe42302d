#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "codec/kernel/kernels.hpp"

// Specification of the formats that send little more than a sign.
namespace narrowcast::kernel {
namespace {

// Sums of float32 over eight interleaved lanes, moved into a double every kRun values so that long
// columns keep their precision.
constexpr std::size_t kRun = 512;

struct Sums {
  double negative = 0;
  double positive = 0;
  std::size_t negatives = 0;
};

double add_up(const std::array<float, 8>& lane) {
  const auto d = [&](int i) { return static_cast<double>(lane[static_cast<std::size_t>(i)]); };
  return ((d(0) + d(4)) + (d(1) + d(5))) + ((d(2) + d(6)) + (d(3) + d(7)));
}

Sums sums_beside(const float* x, std::size_t n, float border) {
  Sums total;
  for (std::size_t begin = 0; begin < n; begin += kRun) {
    std::array<float, 8> negative{};
    std::array<float, 8> positive{};
    for (std::size_t i = begin; i < std::min(n, begin + kRun); ++i) {
      const bool below = x[i] < border;
      (below ? negative : positive)[i % 8] += x[i];
      total.negatives += below ? 1 : 0;
    }
    total.negative += add_up(negative);
    total.positive += add_up(positive);
  }
  return total;
}

float mean(double sum, std::size_t count) {
  return count == 0 ? 0 : static_cast<float>(sum / static_cast<double>(count));
}

void onebit_encode(const float* x, std::size_t n, Threshold threshold, float* means,
                   std::uint8_t* bits) {
  float border = 0;
  if (threshold == Threshold::mean) {
    const Sums all = sums_beside(x, n, 0);
    border = mean(all.negative + all.positive, n);
  }
  const Sums sums = sums_beside(x, n, border);
  means[0] = mean(sums.negative, sums.negatives);
  means[1] = mean(sums.positive, n - sums.negatives);
  std::fill_n(bits, (n + 7) / 8, std::uint8_t{0});
  for (std::size_t i = 0; i < n; ++i)
    if (x[i] < border) bits[i / 8] = static_cast<std::uint8_t>(bits[i / 8] | 1u << (i % 8));
}

bool bit(const std::uint8_t* bits, std::size_t i) { return (bits[i / 8] >> (i % 8) & 1) != 0; }

template <Into into>
void onebit_decode(const std::uint8_t* bits, std::size_t n, const float* means, float* out) {
  for (std::size_t i = 0; i < n; ++i) {
    const float value = means[bit(bits, i) ? 0 : 1];
    out[i] = into == Into::sum ? out[i] + value : value;
  }
}

// The exponent field as it is, or one more: with the odds of the mantissa, of which the random bits
// resolve sixteen; half a unit of them (64) centres the odds. A float32 subnormal is mantissa /
// 2^23 of the smallest normal, so the same sum is right for it.
void natural_encode(const float* x, std::size_t n, const std::uint16_t* random, std::uint8_t* signs,
                    std::uint8_t* exponents) {
  std::fill_n(signs, (n + 7) / 8, std::uint8_t{0});
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t magnitude = std::bit_cast<std::uint32_t>(x[i]) & 0x7fffffffu;
    std::uint32_t exponent = (magnitude + (std::uint32_t{random[i]} << 7) + 64) >> 23;
    bool negative = std::signbit(x[i]);
    if (std::isfinite(x[i])) exponent = std::min(exponent, 254u);
    if (std::isinf(x[i])) exponent = 255;
    if (std::isnan(x[i])) exponent = 0;
    if (exponent == 0) negative = std::isnan(x[i]);  // minus zero stands for NaN
    exponents[i] = static_cast<std::uint8_t>(exponent);
    if (negative) signs[i / 8] = static_cast<std::uint8_t>(signs[i / 8] | 1u << (i % 8));
  }
}

template <Into into>
void natural_decode(const std::uint8_t* signs, const std::uint8_t* exponents, std::size_t n,
                    float factor, float* out) {
  for (std::size_t i = 0; i < n; ++i) {
    const float magnitude = std::bit_cast<float>(std::uint32_t{exponents[i]} << 23);
    float value = bit(signs, i) ? -magnitude : magnitude;
    if (exponents[i] == 0 && bit(signs, i)) value = std::numeric_limits<float>::quiet_NaN();
    value *= factor;
    out[i] = into == Into::sum ? out[i] + value : value;
  }
}

}  // namespace

void scalar_signs(Kernels& table) {
  table.onebit_encode = onebit_encode;
  table.onebit_decode = {onebit_decode<Into::overwrite>, onebit_decode<Into::sum>};
  table.natural_encode = natural_encode;
  table.natural_decode = {natural_decode<Into::overwrite>, natural_decode<Into::sum>};
}

}  // namespace narrowcast::kernel
