// TernGrad (Wen et al., 2017): minus one, zero or one times a scale, at random and without bias.
//
//   wire, per block:   scale f32 | level [count], 2 bits each, two's complement
//   value:             x' = scale * level
//   scale:             min(max|x|, clip * rms(x)); clip=0 never clips
//
// Good for:   two bits with nothing to keep between steps.
// Bad for:    noise: it is qsgd:bits=2 whose outliers are clipped; that costs a bias, and pays when
//             few values are large.
// Why the rms: it is the paper's standard deviation for gradients around zero, and does not vanish
//             for a block of equal values.
// Why 4096:   the paper has one scale a layer; blocks are cut and encoded apart. block=0 is the
//             paper's.
// Non-finite: the block decodes to NaN.
#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.hpp"
#include "codec/bits.hpp"
#include "codec/blocks.hpp"
#include "codec/spec.hpp"

namespace narrowcast {
namespace {

constexpr int kBits = 2;

Promise promise_of(std::size_t block, double clip) {
  Promise promise;
  promise.block = block;
  promise.of_block = 1 + kFloatRoundings;
  promise.absolute = 0x1p-149;
  promise.bias = clip == 0 ? 0x1p-17 + 0x1p-21 : 1;  // clipping is a bias, up to all of a value
  promise.non_finite = NonFinite::block_is_nan;
  return promise;
}

class Tern final : public BlockCodec {
 public:
  Tern(const Options& options, std::size_t block, double clip)
      : BlockCodec(options.canonical(), promise_of(block, clip)), clip_(clip) {}

 private:
  std::size_t code_bytes(std::size_t values) const noexcept override {
    return packed_bytes(values, kBits);
  }

  float scale_of(Floats block) const override {
    const kernel::Kernels& cpu = kernel::active();
    const float most = cpu.absmax(block.data(), block.size());
    if (clip_ == 0 || !std::isfinite(most)) return most;
    const double squares = cpu.squares(block.data(), block.size());
    const double rms = std::sqrt(squares / static_cast<double>(block.size()));
    return static_cast<float>(std::min<double>(most, clip_ * rms));
  }

  void encode_part(const Part& part, MutableBytes codes) const override {
    const kernel::Kernels& cpu = kernel::active();
    const std::size_t n = part.values.size();
    std::array<std::int8_t, kPart> levels;
    cpu.stochastic8(part.values.data(), n, 65536.0f / part.scale, 1,
                    part.dice.shake(part.first_index, n), levels.data());
    cpu.pack(reinterpret_cast<const std::uint8_t*>(levels.data()), n, kBits,
             reinterpret_cast<std::uint8_t*>(codes.data()));
  }

  void decode_part(Bytes codes, float scale, MutableFloats out, Into into) const override {
    const kernel::Kernels& cpu = kernel::active();
    std::array<std::int8_t, kPart> levels;
    check_padding(codes, out.size(), kBits);
    cpu.unpack_signed(reinterpret_cast<const std::uint8_t*>(codes.data()), out.size(), kBits,
                      levels.data());
    require(!cpu.contains8(reinterpret_cast<const std::uint8_t*>(levels.data()), out.size(), 0xfe),
            Fault::wire, "decode: tern level out of range");
    cpu.levels8[into](levels.data(), out.size(), scale, out.data());
  }

  double clip_;
};

}  // namespace

std::unique_ptr<Codec> make_tern(const Options& options) {
  const auto block = static_cast<std::size_t>(options.integer("block", 0, std::int64_t{1} << 40));
  return std::make_unique<Tern>(options, block, options.real("clip", 0, 1000));
}

}  // namespace narrowcast
