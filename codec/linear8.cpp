// D16's linear type: 127 even steps between 0 and the block's maximum.
//
//   wire, per block:   scale f32 = max|x| | code u8 [count]: sign, then i
//   value:             x' = scale / 127 * i
//
// Good for:   blocks of values of similar size; the cheapest of the 8-bit types.
// Bad for:    values far below the maximum: under 1/254 of it they become 0.
// Why 4096:   as dynamic8. block=0 is the paper's: one scale for the whole tensor.
// Non-finite: the block decodes to NaN.
#include "codec/blocks.hpp"
#include "codec/spec.hpp"

namespace narrowcast {
namespace {

constexpr int kSteps = 127;

Promise promise_of(std::size_t block) {
  Promise promise;
  promise.block = block;
  promise.of_block = 0.5 / kSteps + kFloatRoundings;
  promise.absolute = 0x1p-126;  // a subnormal step is rounded, and the error multiplied
  promise.non_finite = NonFinite::block_is_nan;
  return promise;
}

class Linear8 final : public BlockCodec {
 public:
  Linear8(const Options& options, std::size_t block)
      : BlockCodec(options.canonical(), promise_of(block)) {}

 private:
  std::size_t code_bytes(std::size_t values) const noexcept override { return values; }

  void encode_part(const Part& part, MutableBytes codes) const override {
    kernel::active().linear_encode(part.values.data(), part.values.size(),
                                   float{kSteps} / part.scale,
                                   reinterpret_cast<std::uint8_t*>(codes.data()));
  }

  void decode_part(Bytes codes, float scale, MutableFloats out, Into into) const override {
    kernel::active().linear_decode[into](reinterpret_cast<const std::uint8_t*>(codes.data()),
                                         out.size(), step_of(scale, kSteps), out.data());
  }
};

}  // namespace

std::unique_ptr<Codec> make_linear8(const Options& options) {
  const auto block = static_cast<std::size_t>(options.integer("block", 0, std::int64_t{1} << 40));
  return std::make_unique<Linear8>(options, block);
}

}  // namespace narrowcast
