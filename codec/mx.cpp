// OCP Microscaling (MX) v1.0: 32 values share a power of two.
//
//   wire, per block of 32:   scale E8M0 u8 | elements, 8, 6 or 4 bits each, lowest bits first
//
//   mxfp8   E4M3 or E5M2     mxfp6   E2M3 or E3M2     mxfp4   E2M1     mxint8   int8 / 64
//
// Good for:   few bits with a local scale; what accelerators compute in.
// Bad for:    blocks with one outlier, which decides the scale of 31 others.
// scale=floor: the standard's; the largest values may saturate. scale=ceil takes the next power of
//             two where they would, as several vendors do.
// Non-finite: a NaN or infinity gives its block the scale 0xff, and all of it decodes to NaN.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <utility>

#include "base/error.hpp"
#include "codec/bits.hpp"
#include "codec/blocks.hpp"
#include "codec/codec.hpp"
#include "codec/kernel/kernels.hpp"
#include "codec/spec.hpp"

namespace narrowcast {
namespace {

using kernel::kMxBlock;
using kernel::MxFormat;

struct Element {
  int exponent_bits;
  int mantissa_bits;
  int emax;
  kernel::Kind kind;
};

constexpr Element kE4M3{4, 3, 8, kernel::Kind::fn};
constexpr Element kE5M2{5, 2, 15, kernel::Kind::ieee};
constexpr Element kE2M3{2, 3, 2, kernel::Kind::finite};
constexpr Element kE3M2{3, 2, 4, kernel::Kind::finite};
constexpr Element kE2M1{2, 1, 2, kernel::Kind::finite};

class Mx final : public Codec {
 public:
  Mx(std::string spec, const MxFormat& format, int width, const Promise& promise)
      : spec_(std::move(spec)), format_(format), width_(width), promise_(promise) {}

  const std::string& spec() const override { return spec_; }
  const Promise& promise() const override { return promise_; }

 private:
  static constexpr std::size_t kBlocks = 32;  // that go through scratch memory at a time
  using Scales = std::array<std::uint8_t, kBlocks>;
  using Codes = std::array<std::uint8_t, kBlocks * kMxBlock>;

  std::size_t block_bytes() const noexcept { return 1 + packed_bytes(kMxBlock, width_); }

  std::size_t do_max_bytes(std::size_t values) const noexcept override {
    const std::size_t rest = values % kMxBlock;
    return values / kMxBlock * block_bytes() + (rest == 0 ? 0 : 1 + packed_bytes(rest, width_));
  }

  std::size_t do_encode(Floats in, MutableBytes out, const Stream&, std::uint64_t) const override {
    auto* to = reinterpret_cast<std::uint8_t*>(out.data());
    for (; in.size() >= kMxBlock;) {
      const std::size_t blocks = std::min(kBlocks, in.size() / kMxBlock);
      encode_blocks(in.data(), blocks, to);
      in = in.subspan(blocks * kMxBlock);
      to += blocks * block_bytes();
    }
    if (!in.empty()) {
      std::array<float, kMxBlock> padded{};
      std::array<std::uint8_t, 1 + kMxBlock> block;
      std::copy(in.begin(), in.end(), padded.begin());
      encode_blocks(padded.data(), 1, block.data());
      to = std::copy_n(block.begin(), 1 + packed_bytes(in.size(), width_), to);
    }
    return static_cast<std::size_t>(to - reinterpret_cast<std::uint8_t*>(out.data()));
  }

  void encode_blocks(const float* in, std::size_t blocks, std::uint8_t* out) const {
    const kernel::Kernels& cpu = kernel::active();
    Scales scales;
    Codes codes;
    cpu.mx_encode(in, blocks, format_, scales.data(), codes.data());
    if (width_ == 8) return weave(scales, codes, blocks, out);
    Codes packed;
    cpu.pack(codes.data(), blocks * kMxBlock, width_, packed.data());
    weave(scales, packed, blocks, out);
  }

  void do_decode(Bytes in, MutableFloats out, const Landing& landing) const override {
    const auto* from = reinterpret_cast<const std::uint8_t*>(in.data());
    while (out.size() >= kMxBlock) {
      const std::size_t blocks = std::min(kBlocks, out.size() / kMxBlock);
      decode_blocks(from, blocks, landing, out.data());
      out = out.subspan(blocks * kMxBlock);
      from += blocks * block_bytes();
    }
    if (out.empty()) return;
    check_padding(in, out.size(), width_);
    std::array<float, kMxBlock> padded{};
    std::array<std::uint8_t, 1 + kMxBlock> block{};
    std::copy_n(from, 1 + packed_bytes(out.size(), width_), block.begin());
    std::copy(out.begin(), out.end(), padded.begin());
    decode_blocks(block.data(), 1, landing, padded.data());
    std::copy_n(padded.begin(), out.size(), out.begin());
  }

  void decode_blocks(const std::uint8_t* in, std::size_t blocks, const Landing& landing,
                     float* out) const {
    const kernel::Kernels& cpu = kernel::active();
    Scales scales;
    Codes codes;
    if (width_ == 8) {
      unweave(in, blocks, scales, codes);
    } else {
      Codes packed;
      unweave(in, blocks, scales, packed);
      cpu.unpack(packed.data(), blocks * kMxBlock, width_, codes.data());
    }
    if (format_.integer)
      require(!cpu.contains8(codes.data(), blocks * kMxBlock, 0x80), Fault::wire,
              "decode: mxint8 has no -128");
    cpu.mx_decode[landing.into](scales.data(), codes.data(), blocks, format_, landing.factor, out);
  }

  // Calls body with the bytes of a block's elements as a constant: copies of a known size are
  // moves, others are calls.
  template <class Body>
  void with_bytes(Body body) const {
    switch (width_) {
      case 4:
        return body(std::integral_constant<std::size_t, 16>());
      case 6:
        return body(std::integral_constant<std::size_t, 24>());
      default:
        return body(std::integral_constant<std::size_t, 32>());
    }
  }

  void weave(const Scales& scales, const Codes& codes, std::size_t blocks,
             std::uint8_t* out) const {
    with_bytes([&](auto bytes) {
      for (std::size_t i = 0; i < blocks; ++i, out += 1 + bytes) {
        *out = scales[i];
        std::memcpy(out + 1, codes.data() + i * bytes, bytes);
      }
    });
  }

  void unweave(const std::uint8_t* in, std::size_t blocks, Scales& scales, Codes& codes) const {
    with_bytes([&](auto bytes) {
      for (std::size_t i = 0; i < blocks; ++i, in += 1 + bytes) {
        scales[i] = *in;
        std::memcpy(codes.data() + i * bytes, in + 1, bytes);
      }
    });
  }

  std::string spec_;
  MxFormat format_;
  int width_;
  Promise promise_;
};

Promise promise_of(double of_block, double of_value, double absolute) {
  Promise promise;
  promise.block = kMxBlock;
  promise.of_block = of_block;
  promise.of_value = of_value;
  promise.absolute = absolute;
  promise.largest = 0x1p127;  // more may be rounded up to 2^128
  promise.non_finite = NonFinite::block_is_nan;
  return promise;
}

std::unique_ptr<Codec> make_floating(const Options& options, const Element& element) {
  const bool ceil = options.word("scale") == "ceil";
  const kernel::Format format = kernel::format_of({.exponent_bits = element.exponent_bits,
                                                   .mantissa_bits = element.mantissa_bits,
                                                   .kind = element.kind,
                                                   .overflow = kernel::Overflow::saturate});
  const double largest = format.value_of_largest();
  // Relative to the block's maximum, which is scaled into [2^emax, 2^(emax+1)): what saturates
  // there loses up to 2^(emax+1) - largest; below the smallest normal value half a unit is lost.
  const double top = std::ldexp(1.0, element.emax);
  const double saturated = ceil ? 0 : (2 * top - largest) / (2 * top);
  const double vanished =
      std::ldexp(1.0, format.emin - element.mantissa_bits - 1) / (ceil ? largest / 2 : top);
  // A scale below 2^-127 does not exist: elements of tinier blocks are units of 2^-127.
  const double absolute = std::ldexp(1.0, -128 + format.emin - element.mantissa_bits);
  return std::make_unique<Mx>(options.canonical(),
                              MxFormat{.element = format,
                                       .integer = false,
                                       .emax = element.emax,
                                       .ceil = ceil,
                                       .largest = largest},
                              format.width,
                              promise_of(std::max(saturated, vanished),
                                         std::ldexp(1.0, -element.mantissa_bits - 1), absolute));
}

}  // namespace

std::unique_ptr<Codec> make_mxfp8(const Options& options) {
  return make_floating(options, options.word("element") == "e4m3" ? kE4M3 : kE5M2);
}

std::unique_ptr<Codec> make_mxfp6(const Options& options) {
  return make_floating(options, options.word("element") == "e2m3" ? kE2M3 : kE3M2);
}

std::unique_ptr<Codec> make_mxfp4(const Options& options) { return make_floating(options, kE2M1); }

std::unique_ptr<Codec> make_mxint8(const Options& options) {
  const bool ceil = options.word("scale") == "ceil";
  // Half a step of 1/64 against a maximum of at least 1, or 127/128 where the scale was raised;
  // what is clamped from almost 2 to 127/64 loses as much.
  return std::make_unique<Mx>(
      options.canonical(),
      MxFormat{.element = {}, .integer = true, .emax = 0, .ceil = ceil, .largest = 127.0 / 64}, 8,
      promise_of(ceil ? 1.0 / 127 : 1.0 / 128, 0, std::ldexp(1.0, -134)));
}

}  // namespace narrowcast
