// Rounding to floating-point formats, a vector at a time: for this room's kernels, and for rooms that
// have vector kernels of their own. Included once for each target, after codec/each_target.h.
#if defined(NARROWCAST_ROUNDING_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NARROWCAST_ROUNDING_INL_H_
#undef NARROWCAST_ROUNDING_INL_H_
#else
#define NARROWCAST_ROUNDING_INL_H_
#endif

#include "codec/kernel/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace narrowcast::kernel::HWY_NAMESPACE {

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

// --- values to values, see Shortcut; NaN stays some NaN ---

struct Untouched {
  explicit HWY_INLINE Untouched(const Format&) {}
  HWY_INLINE VF Round(VF x) const { return x; }
};

// With 2^(exponent + 23 - m) added, the last bit of a float32 is the last one of the format. The
// exponent is at least emin, so subnormals need nothing of their own.
struct ByMagic {
  explicit HWY_INLINE ByMagic(const Format& f)
      : limit(hn::Set(F32(), f.limit)),
        beyond(hn::Set(F32(), f.beyond)),
        lowest(hn::Set(I32(), (f.emin + 127) << 23)),
        up(hn::Set(I32(), f.shift << 23)),
        exponent(hn::Set(I32(), 0x7f800000)) {}

  HWY_INLINE VF Round(VF x) const {
    const F32 d;
    const I32 di;
    const auto a = hn::Abs(x);
    const auto field = hn::Max(hn::And(hn::BitCast(di, x), exponent), lowest);
    const auto magic = hn::BitCast(d, hn::Add(field, up));
    const auto near = hn::Sub(hn::Add(a, magic), magic);
    return hn::CopySignToAbs(hn::IfThenElse(hn::Gt(a, limit), beyond, near), x);
  }

  VF limit;
  VF beyond;
  VI lowest;
  VI up;
  VI exponent;
};

// What carries out of the largest mantissa makes infinity, as it should. So could the payload of a
// NaN: it must be plain (0x7fc00000, either sign).
struct ByCarry {
  explicit HWY_INLINE ByCarry(const Format& f)
      : half(hn::Set(U32(), (1u << (f.shift - 1)) - 1)),
        one(hn::Set(U32(), 1)),
        kept(hn::Set(U32(), ~((1u << f.shift) - 1))),
        shift(f.shift) {}

  HWY_INLINE VF Round(VF x) const {
    const auto bits = hn::BitCast(U32(), x);
    const auto odd = hn::And(hn::ShiftRightSame(bits, shift), one);
    return hn::BitCast(F32(), hn::And(hn::Add(hn::Add(bits, half), odd), kept));
  }

  VU half;
  VU one;
  VU kept;
  int shift;
};

}  // namespace narrowcast::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // NARROWCAST_ROUNDING_INL_H_
