#include "codec/formats.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "codec/bits.hpp"
#include "codec/blocks.hpp"
#include "codec/dice.hpp"

namespace narrowcast {
namespace {

using kernel::Format;
using kernel::FormatSpec;
using kernel::Kernels;
using kernel::Rounding;

NonFinite non_finite_of(const FormatSpec& spec) {
  if (spec.kind == kernel::Kind::finite) return NonFinite::refuses_nan;
  const bool has_nan = spec.kind == kernel::Kind::fn || spec.mantissa_bits > 0;
  if (spec.overflow == kernel::Overflow::saturate)
    return has_nan ? NonFinite::saturates_inf : NonFinite::nan_becomes_inf_inf_saturates;
  if (spec.kind == kernel::Kind::fn) return NonFinite::inf_becomes_nan;
  return has_nan ? NonFinite::exact : NonFinite::nan_becomes_inf;
}

Promise promise_of(const FormatSpec& spec, const Format& format) {
  Promise promise;
  promise.block = static_cast<std::size_t>(8 / std::gcd(format.width, 8));
  // Half a unit in the last place for the nearest, a whole one otherwise.
  const double units = spec.rounding == Rounding::nearest ? 0.5 : 1;
  promise.of_value = units * std::ldexp(1.0, -spec.mantissa_bits);
  promise.absolute = units * std::ldexp(1.0, format.emin - spec.mantissa_bits);
  promise.largest = format.value_of_largest();
  // A unit is at most 2^-m of the value; the dice resolve 2^-17 of it.
  if (spec.rounding == Rounding::stochastic)
    promise.bias = std::ldexp(1.0, -17 - spec.mantissa_bits);
  promise.non_finite = non_finite_of(spec);
  return promise;
}

class FormatCodec final : public Codec {
 public:
  FormatCodec(std::string spec, const FormatSpec& format)
      : spec_(std::move(spec)),
        format_(kernel::format_of(format)),
        promise_(promise_of(format, format_)) {}

  const std::string& spec() const override { return spec_; }
  const Promise& promise() const override { return promise_; }
  const Format& format() const { return format_; }

 private:
  // A multiple of 8, so that every part but the last fills whole bytes.
  static constexpr std::size_t kPart = 1024;

  std::size_t do_max_bytes(std::size_t values) const noexcept override {
    return packed_bytes(values, format_.width);
  }

  std::size_t do_encode(Floats in, MutableBytes out, const Stream& stream,
                        std::uint64_t first_index) const override {
    DiceCup dice(stream);
    for (std::size_t begin = 0; begin < in.size(); begin += kPart) {
      const Floats part = in.subspan(begin, std::min(kPart, in.size() - begin));
      const std::uint16_t* random = format_.rounding == Rounding::stochastic
                                        ? dice.shake(first_index + begin, part.size())
                                        : nullptr;
      encode_part(part, random, out.data() + packed_bytes(begin, format_.width));
    }
    return packed_bytes(in.size(), format_.width);
  }

  void encode_part(Floats in, const std::uint16_t* random, std::byte* out) const {
    const Kernels& cpu = kernel::active();
    auto* bytes = reinterpret_cast<std::uint8_t*>(out);
    if (format_.width == 8) return cpu.format8_encode(in.data(), in.size(), format_, random, bytes);
    if (format_.width == 16)
      return cpu.format16_encode(in.data(), in.size(), format_, random,
                                 reinterpret_cast<std::uint16_t*>(out));
    if (format_.width == 32)
      return cpu.format32_encode(in.data(), in.size(), format_, random,
                                 reinterpret_cast<std::uint32_t*>(out));
    if (format_.width < 8) {
      std::array<std::uint8_t, kPart> codes;
      cpu.format8_encode(in.data(), in.size(), format_, random, codes.data());
      return cpu.pack(codes.data(), in.size(), format_.width, bytes);
    }
    std::array<std::uint32_t, kPart> codes;
    cpu.format32_encode(in.data(), in.size(), format_, random, codes.data());
    pack_bits(codes.data(), in.size(), format_.width, out);
  }

  void do_decode(Bytes in, MutableFloats out, const Landing& landing) const override {
    check_padding(in, out.size(), format_.width);
    for (std::size_t begin = 0; begin < out.size(); begin += kPart)
      decode_part(in.data() + packed_bytes(begin, format_.width),
                  out.subspan(begin, std::min(kPart, out.size() - begin)), landing);
  }

  void do_quantize(Floats in, MutableFloats out, const Stream& stream,
                   std::uint64_t first_index) const override {
    const Kernels& cpu = kernel::active();
    if (format_.rounding != Rounding::stochastic)
      return cpu.format_round(in.data(), in.size(), format_, nullptr, out.data());
    DiceCup dice(stream);
    for (std::size_t begin = 0; begin < in.size(); begin += kPart) {
      const std::size_t count = std::min(kPart, in.size() - begin);
      cpu.format_round(in.data() + begin, count, format_, dice.shake(first_index + begin, count),
                       out.data() + begin);
    }
  }

  void decode_part(const std::byte* in, MutableFloats out, const Landing& landing) const {
    const Kernels& cpu = kernel::active();
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(in);
    const auto run = [&](auto decode, const auto* codes) {
      decode[landing.into](codes, out.size(), format_, landing.factor, out.data());
    };
    if (format_.width == 8) return run(cpu.format8_decode, bytes);
    if (format_.width == 16)
      return run(cpu.format16_decode, reinterpret_cast<const std::uint16_t*>(in));
    if (format_.width == 32)
      return run(cpu.format32_decode, reinterpret_cast<const std::uint32_t*>(in));
    if (format_.width < 8) {
      std::array<std::uint8_t, kPart> codes;
      cpu.unpack(bytes, out.size(), format_.width, codes.data());
      return run(cpu.format8_decode, codes.data());
    }
    std::array<std::uint32_t, kPart> codes;
    unpack_bits(in, out.size(), format_.width, codes.data());
    run(cpu.format32_decode, codes.data());
  }

  std::string spec_;
  Format format_;
  Promise promise_;
};

}  // namespace

std::optional<Format> float_format(const Codec& codec) {
  if (codec.spec() == "fp32") return kernel::format_of({});
  const auto* of_a_format = dynamic_cast<const FormatCodec*>(&codec);
  if (of_a_format == nullptr) return std::nullopt;
  return of_a_format->format();
}

std::unique_ptr<Codec> make_format_codec(std::string spec, const kernel::FormatSpec& format) {
  return std::make_unique<FormatCodec>(std::move(spec), format);
}

}  // namespace narrowcast
