// The dynamic map of bitsandbytes, byte for byte as its CPU code quantises blocks (0.50).
//
//   wire, per block:   scale f32 = max|x| | code u8 [count]
//   value:             x' = scale * map[code]
//   map:               256 ascending values: 7 decades of 1, 2, .. 64 equal bins on either side of 0
//                      (code 127), and 1 (code 255); there is no -1
//
// Good for:   exchanging 8-bit state with bitsandbytes; much like dynamic8, with a decade more.
// Bad for:    zeros: bitsandbytes finds a code through a table of 65536 steps of x / max|x|, none of
//             which falls on the seven innermost values. A zero becomes 2.1e-5 of the maximum, and
//             -0 in a block of zeros.
// Why repeat that: codes equal to the other side's are the point of this codec.
// Non-finite: the block decodes to NaN (bitsandbytes turns a NaN into a number).
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "codec/blocks.hpp"
#include "codec/spec.hpp"

namespace narrowcast {
namespace {

constexpr int kCodes = 256;
constexpr int kZero = 127;

// The centres of the bins of one decade, in float32 with fused steps from the nearer end: the order
// of operations decides the last bit, and this one gives the bits of the published map.
std::vector<float> decade(int index) {
  const int bins = 1 << index;
  const float low = 0.1f;
  const float step = (1.0f - low) / static_cast<float>(bins);
  const auto edge = [&](int k) {
    return k < (bins + 1) / 2 ? std::fma(step, static_cast<float>(k), low)
                              : std::fma(-step, static_cast<float>(bins - k), 1.0f);
  };
  const auto scale = static_cast<float>(std::pow(10.0, index - 6));
  std::vector<float> centres;
  for (int k = 0; k < bins; ++k) centres.push_back(scale * ((edge(k) + edge(k + 1)) / 2));
  return centres;
}

std::array<float, kCodes> dynamic_map() {
  std::array<float, kCodes> map{};
  std::size_t outward = 1;
  for (int index = 0; index < 7; ++index)
    for (const float centre : decade(index)) {
      map[kZero + outward] = centre;
      map[kZero - outward] = -centre;
      ++outward;
    }
  map[kCodes - 1] = 1;
  return map;
}

// Which of the 65536 steps a ratio falls on, with the operations of the original.
int step_of(float ratio) {
  const float unit = (std::clamp(ratio, -1.0f, 1.0f) + 1.0f) * 0.5f;
  return static_cast<int>(std::fma(unit, 65535.0f, 0.5f));
}

// The code of each step: how many midpoints lie below the value that the step stands for.
std::vector<std::uint8_t> codes_of_steps(const std::array<float, kCodes>& map) {
  std::vector<float> midpoints;
  for (std::size_t i = 0; i + 1 < map.size(); ++i)
    midpoints.push_back(0.5f * (map[i] + map[i + 1]));
  std::vector<std::uint8_t> codes(65536);
  for (std::size_t step = 0; step < codes.size(); ++step) {
    const float value = 2.0f * static_cast<float>(step) / 65535.0f - 1.0f;
    codes[step] = static_cast<std::uint8_t>(
        std::lower_bound(midpoints.begin(), midpoints.end(), value) - midpoints.begin());
  }
  return codes;
}

// The thresholds of a monotone function of |ratio|, found by bisection over float32 bit patterns.
template <class CodeOf>
kernel::Codebook::Side side_of(CodeOf code_of) {
  kernel::Codebook::Side side;
  std::uint32_t here = 0;
  const std::uint32_t end = std::bit_cast<std::uint32_t>(1.0f);
  side.codes.push_back(code_of(0.0f));
  while (code_of(1.0f) != side.codes.back()) {
    std::uint32_t last = here;  // still the current code
    std::uint32_t beyond = end;
    while (beyond - last > 1) {
      const std::uint32_t middle = last + (beyond - last) / 2;
      (code_of(std::bit_cast<float>(middle)) == side.codes.back() ? last : beyond) = middle;
    }
    side.thresholds.push_back(std::bit_cast<float>(last));
    side.codes.push_back(code_of(std::bit_cast<float>(beyond)));
    here = beyond;
  }
  return side;
}

kernel::Codebook make_book() {
  const std::array<float, kCodes> map = dynamic_map();
  const std::vector<std::uint8_t> codes = codes_of_steps(map);
  const auto code_of = [&](float ratio) { return codes[static_cast<std::size_t>(step_of(ratio))]; };
  return {map, side_of([&](float a) { return code_of(a); }),
          side_of([&](float a) { return code_of(-a); }), kernel::CodeOrder::ascending};
}

// One for all: it takes a millisecond to find.
const kernel::Codebook& book() {
  static const kernel::Codebook kBook = make_book();
  return kBook;
}

// At and below it the original's reciprocal is infinite.
constexpr float kNoReciprocal = 0x1p-128f;

Promise promise_of(std::size_t block) {
  Promise promise;
  promise.block = block;
  promise.of_block = 0.00705;  // half the widest gap, a step of the table, and roundings
  promise.absolute = 2 * kNoReciprocal;
  promise.non_finite = NonFinite::block_is_nan;
  return promise;
}

class Bnb8 final : public BlockCodec {
 public:
  Bnb8(const Options& options, std::size_t block)
      : BlockCodec(options.canonical(), promise_of(block)) {}

 private:
  std::size_t code_bytes(std::size_t values) const noexcept override { return values; }
  bool lifts() const noexcept override { return false; }

  void encode_part(const Part& part, MutableBytes codes) const override {
    auto* to = reinterpret_cast<std::uint8_t*>(codes.data());
    if (part.scale <= kNoReciprocal) {
      for (const float v : part.values) *to++ = v > 0 ? 255 : 0;
      return;
    }
    kernel::active().codebook_encode(part.values.data(), part.values.size(), 1 / part.scale, book(),
                                     to);
  }

  void decode_part(Bytes codes, float scale, MutableFloats out, Into into) const override {
    std::array<float, kCodes> table;
    kernel::active().scale(book().values().data(), table.size(), scale, table.data());
    kernel::active().lookup[into](reinterpret_cast<const std::uint8_t*>(codes.data()), out.size(),
                                  table.data(), out.data());
  }
};

}  // namespace

std::unique_ptr<Codec> make_bnb8(const Options& options) {
  const auto block = static_cast<std::size_t>(options.integer("block", 1, std::int64_t{1} << 40));
  return std::make_unique<Bnb8>(options, block);
}

}  // namespace narrowcast
