// The kernels of scalar_formats.cpp for every vector target, from one source.
#include "codec/kernel/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codec/kernel/simd_formats.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include "codec/kernel/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace narrowcast::kernel::HWY_NAMESPACE {
namespace {

HWY_INLINE VU Set(std::uint32_t v) { return hn::Set(U32(), v); }
// All ones where a < b, for values below 2^31 (signed comparison exists on every target).
HWY_INLINE VU Below(VU a, VU b) {
  const I32 di;
  return hn::BitCast(U32(), hn::VecFromMask(di, hn::Lt(hn::BitCast(di, a), hn::BitCast(di, b))));
}
HWY_INLINE VU Select(VU mask, VU yes, VU no) { return hn::IfVecThenElse(mask, yes, no); }

// Constants of a format, broadcast once. Three ways to round, one function each.
struct Encoder {
  explicit HWY_INLINE Encoder(const Format& f)
      : shift(f.shift),
        half(f.shift > 0 ? (1u << (f.shift - 1)) - 1 : 0),
        odd(f.shift > 0 ? 1 : 0),
        base(f.rebias << f.shift),
        field_of_emin(static_cast<std::uint32_t>(f.emin + 127)),
        format(f) {}

  // Magnitude of a normal result is the float32 magnitude, rebased and rounded in its integer form;
  // of a subnormal one it is what adding `magic` leaves in the low bits.
  HWY_INLINE VU Nearest(VU a) const {
    const F32 d;
    const U32 du;
    const auto rebased = hn::Sub(a, Set(base));
    const auto is_odd = hn::And(hn::ShiftRightSame(rebased, shift), Set(odd));
    const auto normal = hn::ShiftRightSame(hn::Add(hn::Add(rebased, Set(half)), is_odd), shift);
    const auto magic = hn::Set(d, format.magic);
    const auto sum = hn::BitCast(du, hn::Add(hn::BitCast(d, a), magic));
    const auto subnormal = hn::Sub(sum, hn::BitCast(du, magic));
    return Select(Below(a, Set(format.subnormal_below)), subnormal, normal);
  }

  HWY_INLINE VU Zero(VU a) const {
    const F32 d;
    const auto normal = hn::ShiftRightSame(hn::Sub(a, Set(base)), shift);
    const auto places = hn::Mul(hn::BitCast(d, a), hn::Set(d, format.per_unit));
    // Conversion truncates; lanes where it overflows are not selected.
    const auto subnormal = hn::BitCast(U32(), hn::ConvertTo(I32(), places));
    return Select(Below(a, Set(format.subnormal_below)), subnormal, normal);
  }

  // Integers throughout: the significand, the number of its bits that go, and the sixteen highest
  // of those against the dice.
  HWY_INLINE VU Stochastic(VU a, VU dice) const {
    const auto one = Set(1);
    const auto field = hn::ShiftRight<23>(a);
    const auto is_normal = Below(hn::Zero(U32()), field);
    const auto significand = hn::Or(hn::And(a, Set(0x7fffffu)), hn::And(is_normal, Set(0x800000u)));
    const auto lowest = Set(field_of_emin);
    const auto effective = hn::Max(field, one);
    const auto missing = hn::Sub(hn::Max(effective, lowest), effective);
    const auto gone = hn::Min(hn::Add(Set(static_cast<std::uint32_t>(shift)), missing), Set(47));
    const auto capped = hn::Min(gone, Set(31));
    const auto rest = hn::And(significand, hn::Sub(hn::Shl(one, capped), one));
    const auto sixteen = Set(16);
    const auto few = hn::Shl(rest, hn::Sub(sixteen, hn::Min(gone, sixteen)));
    const auto extra = hn::Sub(hn::Max(gone, sixteen), sixteen);
    const auto centre = hn::ShiftRight<1>(hn::Shl(one, extra));
    const auto many = hn::Shr(hn::Add(rest, centre), extra);
    const auto chance = Select(Below(sixteen, gone), many, few);
    const auto up = hn::ShiftRight<16>(hn::Add(chance, dice));
    const auto exponent = hn::Sub(hn::Max(effective, lowest), lowest);
    const auto base_magnitude = hn::ShiftLeftSame(exponent, 23 - shift);
    return hn::Add(hn::Add(base_magnitude, hn::Shr(significand, capped)), up);
  }

  template <Rounding rounding>
  HWY_INLINE VU Code(VF x, const std::uint16_t* HWY_RESTRICT random) const {
    const U32 du;
    const auto bits = hn::BitCast(du, x);
    const auto a = hn::And(bits, Set(0x7fffffffu));
    VU magnitude;
    if constexpr (rounding == Rounding::nearest) magnitude = Nearest(a);
    if constexpr (rounding == Rounding::zero) magnitude = Zero(a);
    if constexpr (rounding == Rounding::stochastic)
      magnitude = Stochastic(a, hn::PromoteTo(du, hn::LoadU(U16Half(), random)));
    const auto infinity = Set(0x7f800000u);
    magnitude = Select(Below(Set(format.largest), magnitude), Set(format.overflow), magnitude);
    // Rounding toward zero is the one case where overflow and infinity part.
    if constexpr (rounding == Rounding::zero)
      magnitude = Select(Below(a, infinity), magnitude, Set(format.infinity_in));
    magnitude = Select(Below(infinity, a), Set(format.nan_in), magnitude);
    const auto sign = hn::ShiftLeftSame(hn::ShiftRight<31>(bits), format.width - 1);
    return hn::Or(magnitude, sign);
  }

  int shift;
  std::uint32_t half;
  std::uint32_t odd;
  std::uint32_t base;
  std::uint32_t field_of_emin;
  const Format& format;
};

struct Decoder {
  explicit HWY_INLINE Decoder(const Format& f) : format(f) {}

  HWY_INLINE VF Value(VU code) const {
    const F32 d;
    const U32 du;
    const auto magnitude = hn::And(code, Set(format.sign - 1));
    const auto normal = hn::ShiftLeftSame(hn::Add(magnitude, Set(format.rebias)), format.shift);
    const auto places = hn::ConvertTo(d, hn::BitCast(I32(), magnitude));
    const auto subnormal = hn::BitCast(du, hn::Mul(places, hn::Set(d, format.unit)));
    auto bits = Select(Below(magnitude, Set(format.subnormal_magnitude)), subnormal, normal);
    const auto sign = hn::ShiftLeft<31>(hn::ShiftRightSame(code, format.width - 1));
    const auto infinite = hn::VecFromMask(du, hn::Eq(magnitude, Set(format.infinity_out)));
    bits = hn::Or(Select(infinite, Set(0x7f800000u), bits), sign);
    const auto special = hn::AndNot(infinite, Below(Set(format.largest), magnitude));
    return hn::BitCast(d, Select(special, Set(0x7fc00000u), bits));
  }

  const Format& format;
};

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
  if (NarrowDecoder::Fits(format))
    return DecodeAll<into>(NarrowDecoder(format), codes, n, factor, out);
  DecodeAll<into>(Decoder(format), codes, n, factor, out);
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
