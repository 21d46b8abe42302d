// D16's two types without a scale of the data: a decimal exponent inside the byte.
//
//   wire:       u8 per value: sign, 3 exponent bits, 4 bits
//   value:      x' = 10^offset * magnitude
//   static8:    e = -5..2; the 4 bits are a tree that halves [0.1, 1) at 0.45: 10^e times
//               0.1 + 0.04375 k or 0.45 + 0.0675 k, k = 0..7; the smallest magnitude is 0
//   mantissa8:  e = -6..1; the 4 bits are a mantissa: m * 10^e, m = 0..15
//
// Good for:   values of known size, with no pass to find a maximum: activations, by the paper.
// Bad for:    gradients, unless `offset` moves the range (1e-5..92, 1e-6..150) to them.
// Why m < 10: a value that two codes stand for gets the one with the larger exponent.
// Non-finite: NaN and infinity become the code of minus zero, which decodes to NaN. Finite values
//             beyond the range saturate.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "codec/blocks.hpp"
#include "codec/codec.hpp"
#include "codec/kernel/kernels.hpp"
#include "codec/ladder.hpp"
#include "codec/spec.hpp"

namespace narrowcast {
namespace {

constexpr std::uint8_t kNotFinite = 0x80;

// Magnitudes by pattern (the byte without its sign).
using Patterns = std::array<double, 128>;

Patterns static_tree() {
  Patterns all{};
  for (int i = 0; i < 128; ++i) {
    const int k = i % 8;
    const double within = i % 16 < 8 ? 0.1 + 0.04375 * k : 0.45 + 0.0675 * k;
    all[static_cast<std::size_t>(i)] = std::pow(10.0, i / 16 - 5) * within;
  }
  all[0] = 0;
  return all;
}

Patterns mantissas() {
  Patterns all{};
  // One rounding each, so that equal values are equal: m * 10^e is m / 10^-e or a small integer.
  for (int i = 0; i < 128; ++i) {
    const int e = i / 16 - 6;
    all[static_cast<std::size_t>(i)] =
        e < 0 ? i % 16 / std::pow(10.0, -e) : i % 16 * std::pow(10.0, e);
  }
  return all;
}

class Decimal8 final : public Codec {
 public:
  Decimal8(const Options& options, const Patterns& patterns)
      : Decimal8(options, patterns,
                 Ladder(sorted(patterns),
                        options.word("rounding") == "paper" ? Search::paper_odd : Search::nearest),
                 static_cast<int>(options.integer("offset", -30, 30))) {}

  const std::string& spec() const override { return spec_; }
  const Promise& promise() const override { return promise_; }

 private:
  Decimal8(const Options& options, const Patterns& patterns, const Ladder& ladder, int offset)
      : spec_(options.canonical()),
        unit_(static_cast<float>(std::pow(10.0, offset))),
        book_({}, ladder.side(0), ladder.side(0x80), kernel::CodeOrder::sign_magnitude) {
    promise_.of_value = ladder.worst_relative_error() + kFloatRoundings;
    promise_.absolute = ladder.first_error() * std::pow(10.0, offset) * (1 + kFloatRoundings);
    promise_.largest = ladder.steps().back() * std::pow(10.0, offset);
    promise_.non_finite = NonFinite::inf_becomes_nan;
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      values_[i] = static_cast<float>(patterns[i] * std::pow(10.0, offset));
      values_[i | 0x80] = -values_[i];
    }
    values_[kNotFinite] = std::numeric_limits<float>::quiet_NaN();
    for (std::size_t rank = 0; rank < ladder.steps().size(); ++rank) {
      // The last pattern of that magnitude has the largest exponent; zero takes the first.
      const auto last = std::find(patterns.rbegin(), patterns.rend(), ladder.steps()[rank]);
      const auto pattern = rank == 0 ? 0 : patterns.rend() - last - 1;
      code_of_[rank] = static_cast<std::uint8_t>(pattern);
      code_of_[rank | 0x80] = static_cast<std::uint8_t>(rank == 0 ? 0 : pattern | 0x80);
    }
  }

  static std::vector<double> sorted(const Patterns& patterns) {
    std::vector<double> all(patterns.begin(), patterns.end());
    std::sort(all.begin(), all.end());
    return all;
  }

  std::size_t do_max_bytes(std::size_t values) const noexcept override { return values; }

  std::size_t do_encode(Floats in, MutableBytes out, const Stream&, std::uint64_t) const override {
    constexpr std::size_t kPart = 4096;
    for (std::size_t begin = 0; begin < in.size(); begin += kPart)
      encode_part(in.subspan(begin, std::min(kPart, in.size() - begin)),
                  reinterpret_cast<std::uint8_t*>(out.data()) + begin);
    return in.size();
  }

  void encode_part(Floats in, std::uint8_t* codes) const {
    const kernel::Kernels& cpu = kernel::active();
    cpu.codebook_encode(in.data(), in.size(), 1 / unit_, book_, codes);
    for (std::size_t i = 0; i < in.size(); ++i) codes[i] = code_of_[codes[i]];
    if (std::isfinite(cpu.absmax(in.data(), in.size()))) return;
    for (std::size_t i = 0; i < in.size(); ++i)
      if (!std::isfinite(in[i])) codes[i] = kNotFinite;
  }

  void do_decode(Bytes in, MutableFloats out, const Landing& landing) const override {
    std::array<float, 256> table;
    kernel::active().scale(values_.data(), table.size(), landing.factor, table.data());
    kernel::active().lookup[landing.into](reinterpret_cast<const std::uint8_t*>(in.data()),
                                          out.size(), table.data(), out.data());
  }

  std::string spec_;
  float unit_;
  kernel::Codebook book_;
  Promise promise_;
  std::array<float, 256> values_{};
  std::array<std::uint8_t, 256> code_of_{};  // by rank byte
};

}  // namespace

std::unique_ptr<Codec> make_static8(const Options& options) {
  return std::make_unique<Decimal8>(options, static_tree());
}

std::unique_ptr<Codec> make_mantissa8(const Options& options) {
  return std::make_unique<Decimal8>(options, mantissas());
}

}  // namespace narrowcast
