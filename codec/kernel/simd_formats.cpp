// The kernels of scalar_formats.cpp for every vector target, from one source.
#include "codec/kernel/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codec/kernel/simd_formats.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include "codec/kernel/halves-inl.h"
#include "codec/rounding-inl.h"

HWY_BEFORE_NAMESPACE();
namespace narrowcast::kernel::HWY_NAMESPACE {
namespace {

// Formats of at most eight magnitudes, where a vector has as many lanes: one permutation finds the
// value.
struct NarrowDecoder {
  explicit HWY_INLINE NarrowDecoder(const Format& f) : format(f) {
    alignas(32) static constexpr std::uint32_t kMagnitudes[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    const auto below = Set(format.sign - 1);
    table = Decoder(f).Value(hn::And(hn::Load(U32(), kMagnitudes), below));
    // NaN has no sign here, wherever its code has one.
    const auto bits = hn::BitCast(U32(), table);
    signs = hn::BitCast(F32(), hn::AndNot(Below(Set(0x7f800000u), bits), Set(0x80000000u)));
  }

  HWY_INLINE VF Value(VU code) const {
    const F32 d;
    const auto index =
        hn::IndicesFromVec(d, hn::BitCast(I32(), hn::And(code, Set(format.sign - 1))));
    const auto value = hn::TableLookupLanes(table, index);
    const auto sign = hn::ShiftLeft<31>(hn::ShiftRightSame(code, format.width - 1));
    return hn::Or(value, hn::And(hn::BitCast(d, sign), hn::TableLookupLanes(signs, index)));
  }

  static HWY_INLINE bool Fits(const Format& f) { return kLanes == 8 && f.width <= 4; }

  const Format& format;
  VF table;
  VF signs;
};

template <class Code, Rounding rounding>
HWY_INLINE void EncodeAll(const float* x, std::size_t n, const Format& format,
                          const std::uint16_t* random, Code* codes) {
  const F32 d;
  const Encoder encoder(format);
  EncodeUnits(x, n, codes, [&](const float* in, Code* out, std::size_t i) HWY_ATTR {
    StoreUnit(out, [&](std::size_t j) HWY_ATTR {
      const auto* dice = rounding == Rounding::stochastic ? random + i + j : nullptr;
      return encoder.Code<rounding>(hn::LoadU(d, in + j), dice);
    });
  });
}

template <class Code>
void Encode(const float* x, std::size_t n, const Format& format, const std::uint16_t* random,
            Code* codes) {
  if constexpr (sizeof(Code) == 2) {
    if (Binary16::Fits(format)) return EncodeHalves<Binary16>(x, n, codes);
    if (BFloat16::Fits(format)) return EncodeHalves<BFloat16>(x, n, codes);
  }
  switch (format.rounding) {
    case Rounding::nearest:
      return EncodeAll<Code, Rounding::nearest>(x, n, format, random, codes);
    case Rounding::stochastic:
      return EncodeAll<Code, Rounding::stochastic>(x, n, format, random, codes);
    case Rounding::zero:
      return EncodeAll<Code, Rounding::zero>(x, n, format, random, codes);
  }
}

template <Into into, class AnyDecoder, class Code>
HWY_INLINE void DecodeAll(const AnyDecoder& decoder, const Code* codes, std::size_t n, float factor,
                          float* out) {
  const F32 d;
  const auto scale = hn::Set(d, factor);
  DecodeUnits(codes, n, out, [&](const Code* in, float* to) HWY_ATTR {
    for (std::size_t j = 0; j < kUnit; j += kLanes)
      Land<into>(hn::Mul(decoder.Value(LoadCodes(in + j)), scale), to + j);
  });
}

template <class Code, Into into>
void Decode(const Code* codes, std::size_t n, const Format& format, float factor, float* out) {
  if constexpr (sizeof(Code) == 2) {
    if (Binary16::Fits(format)) return DecodeHalves<Binary16, into>(codes, n, factor, out);
    if (BFloat16::Fits(format)) return DecodeHalves<BFloat16, into>(codes, n, factor, out);
  }
  if (NarrowDecoder::Fits(format))
    return DecodeAll<into>(NarrowDecoder(format), codes, n, factor, out);
  DecodeAll<into>(Decoder(format), codes, n, factor, out);
}

// way(x, i) rounds the values from index i on. `out` may be `x`: units are read before they are
// written.
template <class Way>
HWY_INLINE void RoundUnits(const float* x, std::size_t n, float* out, Way way) {
  const F32 d;
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) hn::StoreU(way(hn::LoadU(d, x + i), i), d, out + i);
  if (i == n) return;
  alignas(64) float pad[kLanes] = {};
  std::memcpy(pad, x + i, (n - i) * sizeof(float));
  hn::Store(way(hn::Load(d, pad), i), d, pad);
  std::memcpy(out + i, pad, (n - i) * sizeof(float));
}

template <class Rounder>
HWY_INLINE void RoundQuickly(const float* x, std::size_t n, const Format& format, float* out) {
  const Rounder rounder(format);
  RoundUnits(x, n, out, [&](VF value, std::size_t) HWY_ATTR {
    const auto near = rounder.Round(value);
    const auto plain = hn::Set(F32(), std::bit_cast<float>(0x7fc00000u));
    // A NaN of full payload may have carried: ask the value itself, too.
    return hn::IfThenElse(hn::Or(hn::IsNaN(near), hn::IsNaN(value)), plain, near);
  });
}

template <Rounding rounding>
HWY_INLINE void RoundByCode(const float* x, std::size_t n, const Format& format,
                            const std::uint16_t* random, float* out) {
  const Encoder encoder(format);
  const Decoder decoder(format);
  RoundUnits(x, n, out, [&](VF value, std::size_t i) HWY_ATTR {
    const auto* dice = rounding == Rounding::stochastic ? random + i : nullptr;
    return decoder.Value(encoder.Code<rounding>(value, dice));
  });
}

void Round(const float* x, std::size_t n, const Format& format, const std::uint16_t* random,
           float* out) {
  switch (format.shortcut) {
    case Shortcut::identity:
      return RoundQuickly<Untouched>(x, n, format, out);
    case Shortcut::magic:
      return RoundQuickly<ByMagic>(x, n, format, out);
    case Shortcut::carry:
      return RoundQuickly<ByCarry>(x, n, format, out);
    case Shortcut::none:
      break;
  }
  switch (format.rounding) {
    case Rounding::nearest:
      return RoundByCode<Rounding::nearest>(x, n, format, random, out);
    case Rounding::stochastic:
      return RoundByCode<Rounding::stochastic>(x, n, format, random, out);
    case Rounding::zero:
      return RoundByCode<Rounding::zero>(x, n, format, random, out);
  }
}

// --- MX ---

HWY_INLINE std::uint32_t AbsMaxBits(const float* HWY_RESTRICT x) {
  const I32 di;
  const auto magnitude = hn::Set(di, 0x7fffffff);
  auto most = hn::Zero(di);
  for (std::size_t j = 0; j < kMxBlock; j += kLanes)
    most = hn::Max(most, hn::And(hn::BitCast(di, hn::LoadU(F32(), x + j)), magnitude));
  return static_cast<std::uint32_t>(hn::GetLane(hn::MaxOfLanes(di, most)));
}

// The exponent byte of a block, or 255 when it has a value that is not finite.
HWY_INLINE int SharedByte(std::uint32_t amax, const MxFormat& format, std::uint32_t largest) {
  if (amax >= 0x7f800000u) return 255;
  if (amax == 0) return 0;
  int field = static_cast<int>(amax >> 23);
  std::uint32_t mantissa = amax & 0x7fffffu;
  if (field == 0) {  // subnormal: normalise
    const int lead = 31 - std::countl_zero(mantissa);
    field = lead - 22;
    mantissa = (mantissa << (23 - lead)) & 0x7fffffu;
  }
  const int up = format.ceil && mantissa > largest ? 1 : 0;
  const int shared = field - format.emax + up;
  return shared < 0 ? 0 : shared > 254 ? 254 : shared;
}

// 2^k as float32 for k in -127..128, subnormal at the low end.
HWY_INLINE float PowerOfTwo(int k) {
  return std::bit_cast<float>(k > -127 ? static_cast<std::uint32_t>(k + 127) << 23 : 0x400000u);
}

HWY_INLINE void IntegerBlock(const float* HWY_RESTRICT x, float factor,
                             std::uint8_t* HWY_RESTRICT codes) {
  const F32 d;
  const U32 du;
  const auto scale = hn::Set(d, factor);
  const auto most = hn::Set(d, 127.0f);
  StoreUnit(codes, [&](std::size_t j) HWY_ATTR {
    const auto scaled = hn::Mul(hn::Mul(hn::LoadU(d, x + j), scale), hn::Set(d, 64.0f));
    const auto level = hn::NearestInt(hn::Min(hn::Max(scaled, hn::Neg(most)), most));
    return hn::And(hn::BitCast(du, level), Set(0xffu));
  });
}

void MxEncode(const float* x, std::size_t blocks, const MxFormat& format, std::uint8_t* scales,
              std::uint8_t* codes) {
  const F32 d;
  const Encoder encoder(format.element);
  // The mantissa of the largest element value: a block whose own is larger needs the next scale.
  const auto largest = std::bit_cast<std::uint32_t>(static_cast<float>(format.largest)) & 0x7fffffu;
  for (; blocks > 0; --blocks, x += kMxBlock, codes += kMxBlock) {
    const int shared = SharedByte(AbsMaxBits(x), format, largest);
    *scales++ = static_cast<std::uint8_t>(shared);
    if (shared == 255) {
      std::memset(codes, 0, kMxBlock);
      continue;
    }
    const float factor = PowerOfTwo(127 - shared);
    if (format.integer) {
      IntegerBlock(x, factor, codes);
      continue;
    }
    const auto scale = hn::Set(d, factor);
    StoreUnit(codes, [&](std::size_t j) HWY_ATTR {
      return encoder.Code<Rounding::nearest>(hn::Mul(hn::LoadU(d, x + j), scale), nullptr);
    });
  }
}

struct IntegerDecoder {
  HWY_INLINE VF Value(VU code) const {
    const F32 d;
    const auto level = hn::ShiftRight<24>(hn::BitCast(I32(), hn::ShiftLeft<24>(code)));
    return hn::Mul(hn::ConvertTo(d, level), hn::Set(d, 1.0f / 64.0f));
  }
};

struct MxMessage {
  const std::uint8_t* scales;
  const std::uint8_t* codes;
  std::size_t blocks;
};

template <Into into, class AnyDecoder>
HWY_INLINE void MxDecodeAll(const AnyDecoder& decoder, MxMessage message, float factor,
                            float* out) {
  const F32 d;
  const auto last = hn::Set(d, factor);
  for (; message.blocks > 0; --message.blocks, message.codes += kMxBlock, out += kMxBlock) {
    const int shared = *message.scales++;
    const auto scale =
        hn::Set(d, shared == 255 ? std::bit_cast<float>(0x7fc00000u) : PowerOfTwo(shared - 127));
    for (std::size_t j = 0; j < kMxBlock; j += kLanes) {
      const auto value = decoder.Value(LoadCodes(message.codes + j));
      Land<into>(hn::Mul(hn::Mul(value, scale), last), out + j);
    }
  }
}

template <Into into>
void MxDecode(const std::uint8_t* scales, const std::uint8_t* codes, std::size_t blocks,
              const MxFormat& format, float factor, float* out) {
  const MxMessage message{scales, codes, blocks};
  if (format.integer) return MxDecodeAll<into>(IntegerDecoder(), message, factor, out);
  if (NarrowDecoder::Fits(format.element))
    return MxDecodeAll<into>(NarrowDecoder(format.element), message, factor, out);
  MxDecodeAll<into>(Decoder(format.element), message, factor, out);
}

void Fill(Kernels& table) {
  table.format8_encode = Encode<std::uint8_t>;
  table.format16_encode = Encode<std::uint16_t>;
  table.format32_encode = Encode<std::uint32_t>;
  table.format8_decode = {Decode<std::uint8_t, Into::overwrite>, Decode<std::uint8_t, Into::sum>};
  table.format16_decode = {Decode<std::uint16_t, Into::overwrite>,
                           Decode<std::uint16_t, Into::sum>};
  table.format32_decode = {Decode<std::uint32_t, Into::overwrite>,
                           Decode<std::uint32_t, Into::sum>};
  table.format_round = Round;
  table.mx_encode = MxEncode;
  table.mx_decode = {MxDecode<Into::overwrite>, MxDecode<Into::sum>};
}

}  // namespace
}  // namespace narrowcast::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace narrowcast::kernel {
HWY_EXPORT(Fill);
void simd_formats(Kernels& table) { HWY_DYNAMIC_DISPATCH(Fill)(table); }
}  // namespace narrowcast::kernel
#endif
