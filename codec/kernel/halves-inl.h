// Formats of sixteen bits that take few instructions: binary16 and bfloat16, to the nearest. Included once
// for each target, after codec/each_target.h.
#if defined(NARROWCAST_HALVES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NARROWCAST_HALVES_INL_H_
#undef NARROWCAST_HALVES_INL_H_
#else
#define NARROWCAST_HALVES_INL_H_
#endif

#include "codec/kernel/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace narrowcast::kernel::HWY_NAMESPACE {

using VH = hn::Vec<U16Half>;

// NaN as the scalar kernels give it, without payload: with its sign on the way in, without on the way out.
HWY_INLINE VF PlainNaN(VF x, VF sign_of) {
  const F32 d;
  const auto nan = hn::Set(d, std::bit_cast<float>(0x7fc00000u));
  const auto sign = hn::And(sign_of, hn::Set(d, std::bit_cast<float>(0x80000000u)));
  return hn::IfThenElse(hn::IsNaN(x), hn::Or(nan, sign), x);
}

struct Binary16 {
  using Halves = hn::Rebind<hwy::float16_t, F32>;

  // From AVX2 on x86 converts by itself, rounding as we do; below it Highway takes steps of its own.
  static HWY_INLINE bool Fits(const Format& f) {
    return HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2 && f.binary16;
  }
  static HWY_INLINE VH Code(VF x) {
    return hn::BitCast(U16Half(), hn::DemoteTo(Halves(), PlainNaN(x, x)));
  }
  static HWY_INLINE VF Value(VH code) {
    return PlainNaN(hn::PromoteTo(F32(), hn::BitCast(Halves(), code)), hn::Zero(F32()));
  }
};

// The upper half of a float32.
struct BFloat16 {
  static HWY_INLINE bool Fits(const Format& f) {
    return f.shortcut == Shortcut::carry && f.width == 16;
  }
  static HWY_INLINE VH Code(VF x) {
    const U32 du;
    const auto bits = hn::BitCast(du, PlainNaN(x, x));
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1));
    const auto rounded = hn::Add(hn::Add(bits, hn::Set(du, 0x7fffu)), odd);
    return hn::TruncateTo(U16Half(), hn::ShiftRight<16>(rounded));
  }
  static HWY_INLINE VF Value(VH code) {
    const auto bits = hn::ShiftLeft<16>(hn::PromoteTo(U32(), code));
    return PlainNaN(hn::BitCast(F32(), bits), hn::Zero(F32()));
  }
};

template <class Half>
HWY_INLINE void EncodeHalves(const float* x, std::size_t n, std::uint16_t* codes) {
  EncodeUnits(x, n, codes, [&](const float* in, std::uint16_t* out, std::size_t) HWY_ATTR {
    for (std::size_t j = 0; j < kUnit; j += kLanes)
      hn::StoreU(Half::Code(hn::LoadU(F32(), in + j)), U16Half(), out + j);
  });
}

template <class Half, Into into>
HWY_INLINE void DecodeHalves(const std::uint16_t* codes, std::size_t n, float factor, float* out) {
  const auto scale = hn::Set(F32(), factor);
  DecodeUnits(codes, n, out, [&](const std::uint16_t* in, float* to) HWY_ATTR {
    for (std::size_t j = 0; j < kUnit; j += kLanes)
      Land<into>(hn::Mul(Half::Value(hn::LoadU(U16Half(), in + j)), scale), to + j);
  });
}

}  // namespace narrowcast::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // NARROWCAST_HALVES_INL_H_
