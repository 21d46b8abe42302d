// D16's dynamic tree: one byte whose leading zeros are a decimal exponent.
//
//   wire, per block:   scale f32 = max|x| | code u8 [count]
//   value:             x' = scale * magnitude
//   code:              sign, n zeros, a one, then 6 - n bits of a tree that halves [0.1, 1) at 0.45
//                      and each half evenly: 126 magnitudes 10^-n * ...; pattern 0 is 0, pattern 1
//                      is 1
//
// Good for:   gradients and activations of any scale: six decades within a block.
// Bad for:    fewer than 8 bits; values that are all of one size (linear8 is finer there).
// Why 4096:   a scale costs 0.01 bits a value, and a block of floats fits the first-level cache, so
//             finding the maximum costs no second trip to memory. block=0 is the paper's: one scale
//             for the whole tensor.
// Why the thresholds: rounding=nearest is exact, ties toward zero; rounding=paper repeats the
//             author's search kernel, which truncates in every second interval.
// Non-finite: the block decodes to NaN.
#include <bit>

#include "codec/blocks.hpp"
#include "codec/ladder.hpp"
#include "codec/spec.hpp"

namespace narrowcast {
namespace {

// Numerator and denominator of a pattern's magnitude are small integers, so one division rounds it
// correctly.
double magnitude(int pattern) {
  if (pattern < 2) return pattern;
  const int leaves = std::bit_floor(static_cast<unsigned>(pattern));  // 2^(6 - n)
  const int leaf = pattern - leaves;
  const int lower = 2 * leaves + 7 * (2 * leaf + 1);            // 0.10 + 0.35 (k + 1/2) / h
  const int upper = 9 * leaves + 11 * (2 * leaf - leaves + 1);  // 0.45 + 0.55 (k + 1/2) / h
  double decade = 1;
  for (int size = leaves; size < 64; size *= 2) decade *= 10;  // 10^n
  return (2 * leaf < leaves ? lower : upper) / (20.0 * leaves * decade);
}

constexpr int kPatterns = 128;
int pattern_of(int rank) { return rank == 0 ? 0 : rank == kPatterns - 1 ? 1 : rank + 1; }

Ladder tree(Search search) {
  std::vector<double> magnitudes;
  for (int rank = 0; rank < kPatterns; ++rank) magnitudes.push_back(magnitude(pattern_of(rank)));
  return {magnitudes, search};
}

kernel::Codebook::Side side_of(const Ladder& ladder, std::uint8_t sign) {
  kernel::Codebook::Side side = ladder.side(sign);
  for (int rank = 0; rank < kPatterns; ++rank)
    side.codes[static_cast<std::size_t>(rank)] = static_cast<std::uint8_t>(pattern_of(rank) | sign);
  return side;
}

std::array<float, 256> values() {
  std::array<float, 256> all{};
  for (int pattern = 0; pattern < kPatterns; ++pattern) {
    const auto value = static_cast<float>(magnitude(pattern));
    all[static_cast<std::size_t>(pattern)] = value;
    all[static_cast<std::size_t>(pattern | 0x80)] = -value;
  }
  return all;
}

Promise promise_of(const Ladder& ladder, std::size_t block) {
  Promise promise;
  promise.block = block;
  promise.of_block = ladder.worst_error() + kFloatRoundings;
  promise.absolute = 0x1p-149;  // a tiny product is rounded to that
  promise.non_finite = NonFinite::block_is_nan;
  return promise;
}

class Dynamic8 final : public BlockCodec {
 public:
  Dynamic8(const Options& options, const Ladder& ladder, std::size_t block)
      : BlockCodec(options.canonical(), promise_of(ladder, block)),
        book_(values(), side_of(ladder, 0), side_of(ladder, 0x80),
              kernel::CodeOrder::dynamic_tree) {}

 private:
  std::size_t code_bytes(std::size_t values) const noexcept override { return values; }

  void encode_part(const Part& part, MutableBytes codes) const override {
    kernel::active().codebook_encode(part.values.data(), part.values.size(), 1 / part.scale, book_,
                                     reinterpret_cast<std::uint8_t*>(codes.data()));
  }

  void decode_part(Bytes codes, float scale, MutableFloats out, Into into) const override {
    std::array<float, 256> table;
    kernel::active().scale(book_.values().data(), table.size(), scale, table.data());
    kernel::active().lookup[into](reinterpret_cast<const std::uint8_t*>(codes.data()), out.size(),
                                  table.data(), out.data());
  }

  kernel::Codebook book_;
};

}  // namespace

std::unique_ptr<Codec> make_dynamic8(const Options& options) {
  const auto block = static_cast<std::size_t>(options.integer("block", 0, std::int64_t{1} << 40));
  const Ladder ladder =
      tree(options.word("rounding") == "paper" ? Search::paper_even : Search::nearest);
  return std::make_unique<Dynamic8>(options, ladder, block);
}

}  // namespace narrowcast
