// QSGD (Alistarh et al., 2017) as the EDBT 2018 study runs it: stochastic rounding to even levels.
//
//   wire, per bucket:  scale f32 | level [count], `bits` each, two's complement, lowest bits first
//   value:             x' = scale / s * level
//   s:                 2^(bits-1) - 1, levels on either side of 0; the code -2^(bits-1) is not used
//
// Good for:   few bits without bias: the errors of many ranks and steps cancel.
// Bad for:    2 bits on convolutions (the study loses accuracy); norm=l2 with large buckets, whose
//             values all fall between the first two levels.
// Why max:    the scale is the bucket's maximum, so no level is wasted; norm=l2 is the theory's.
// coding=elias: for norm=l2 and few bits, where most levels are 0.
// Non-finite: the bucket decodes to NaN.
#include "codec/qsgd.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.hpp"
#include "codec/bits.hpp"
#include "codec/blocks.hpp"
#include "codec/spec.hpp"

namespace narrowcast {

float Qsgd::scale_of(Floats values) const {
  const kernel::Kernels& cpu = kernel::active();
  if (norm == Norm::max) return cpu.absmax(values.data(), values.size());
  return static_cast<float>(std::sqrt(cpu.squares(values.data(), values.size())));
}

Promise Qsgd::promise() const {
  Promise promise;
  const double s = levels();
  // The norm in terms of the bucket's maximum.
  const double wide = norm == Norm::max ? 1 : std::sqrt(static_cast<double>(bucket));
  promise.block = bucket;
  promise.of_block = wide * (1 / s + kFloatRoundings);
  promise.absolute = 0x1p-125;  // a subnormal step is rounded, and the error multiplied
  promise.largest /= wide;
  // 2^-17 of a level by the dice, and the roundings of float32 on the way.
  promise.bias = wide * (0x1p-17 / s + 0x1p-21);
  promise.non_finite = NonFinite::block_is_nan;
  return promise;
}

namespace {

class QsgdFixed final : public BlockCodec {
 public:
  QsgdFixed(std::string spec, const Qsgd& qsgd)
      : BlockCodec(std::move(spec), qsgd.promise()), qsgd_(qsgd) {}

 private:
  std::size_t code_bytes(std::size_t values) const noexcept override {
    return packed_bytes(values, qsgd_.bits);
  }

  float scale_of(Floats bucket) const override { return qsgd_.scale_of(bucket); }

  void encode_part(const Part& part, MutableBytes codes) const override {
    const kernel::Kernels& cpu = kernel::active();
    const std::size_t n = part.values.size();
    const std::uint16_t* random = part.dice.shake(part.first_index, n);
    const float inverse = qsgd_.inverse(part.scale);
    if (qsgd_.bits == 16)
      return cpu.stochastic16(part.values.data(), n, inverse, qsgd_.levels(), random,
                              reinterpret_cast<std::int16_t*>(codes.data()));
    if (qsgd_.bits == 8)
      return cpu.stochastic8(part.values.data(), n, inverse, qsgd_.levels(), random,
                             reinterpret_cast<std::int8_t*>(codes.data()));
    std::array<std::int8_t, kPart> levels;
    cpu.stochastic8(part.values.data(), n, inverse, qsgd_.levels(), random, levels.data());
    cpu.pack(reinterpret_cast<const std::uint8_t*>(levels.data()), n, qsgd_.bits,
             reinterpret_cast<std::uint8_t*>(codes.data()));
  }

  void decode_part(Bytes codes, float scale, MutableFloats out, Into into) const override {
    const kernel::Kernels& cpu = kernel::active();
    const float step = step_of(scale, qsgd_.levels());
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(codes.data());
    const auto unused = static_cast<std::uint16_t>(-qsgd_.levels() - 1);
    check_padding(codes, out.size(), qsgd_.bits);
    if (qsgd_.bits == 16) {
      check(!cpu.contains16(reinterpret_cast<const std::uint16_t*>(bytes), out.size(), unused));
      return cpu.levels16[into](reinterpret_cast<const std::int16_t*>(bytes), out.size(), step,
                                out.data());
    }
    std::array<std::int8_t, kPart> unpacked;
    const auto* levels = reinterpret_cast<const std::int8_t*>(bytes);
    if (qsgd_.bits < 8) {
      cpu.unpack_signed(bytes, out.size(), qsgd_.bits, unpacked.data());
      levels = unpacked.data();
    }
    check(!cpu.contains8(reinterpret_cast<const std::uint8_t*>(levels), out.size(),
                         static_cast<std::uint8_t>(unused)));
    cpu.levels8[into](levels, out.size(), step, out.data());
  }

  static void check(bool levels_in_range) {
    require(levels_in_range, Fault::wire, "decode: qsgd level out of range");
  }

  Qsgd qsgd_;
};

std::size_t usual_bucket(int bits) { return bits <= 3 ? 128 : bits <= 8 ? 512 : 8192; }

}  // namespace

std::unique_ptr<Codec> make_qsgd(const Options& options) {
  Qsgd qsgd;
  qsgd.bits = static_cast<int>(options.integer("bits", 2, 16));
  if (qsgd.bits > 8 && qsgd.bits != 16)
    options.refuse("option bits is 2..8,16, not \"" + std::to_string(qsgd.bits) + "\"");
  if (!options.given("bucket")) options.resolve("bucket", std::to_string(usual_bucket(qsgd.bits)));
  qsgd.bucket = static_cast<std::size_t>(options.integer("bucket", 1, 1 << 30));
  qsgd.norm = options.word("norm") == "l2" ? Norm::l2 : Norm::max;
  if (options.word("coding") == "elias") {
    // A bucket of zeros takes five bytes; more values than that in it would look like an attack.
    if (qsgd.bucket > 16384) options.refuse("with coding=elias takes buckets of at most 16384");
    return make_qsgd_elias(options.canonical(), qsgd);
  }
  return std::make_unique<QsgdFixed>(options.canonical(), qsgd);
}

}  // namespace narrowcast
