// The kernels of scalar_signs.cpp for every vector target, from one source.
#include "codec/kernel/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codec/kernel/simd_signs.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include "codec/kernel/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace narrowcast::kernel::HWY_NAMESPACE {
namespace {

constexpr std::size_t kRun = 512;
constexpr std::size_t kTurns = 8 / kLanes;  // vectors that make eight lanes

// Eight values, as one vector or two.
struct Eight {
  VF v[kTurns];
};

HWY_INLINE Eight LoadEight(const float* HWY_RESTRICT x) {
  Eight e;
  for (std::size_t t = 0; t < kTurns; ++t) e.v[t] = hn::LoadU(F32(), x + t * kLanes);
  return e;
}

// Calls body(x, bits) for each eight values and their byte of bits. The last ones are padded: with
// zeros in, into bytes whose bits beyond n the caller clears.
template <class Body>
HWY_INLINE void EachEight(const float* HWY_RESTRICT x, std::size_t n, Body body) {
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8) body(x + i, i / 8);
  if (i == n) return;
  float pad[8] = {};
  std::memcpy(pad, x + i, (n - i) * sizeof(float));
  body(pad, i / 8);
}

// The mask of eight lanes as a byte, lowest lane first.
template <class MakeMask>
HWY_INLINE std::uint8_t MaskByte(MakeMask make) {
  std::uint8_t byte[8] = {};
  std::uint32_t all = 0;
  for (std::size_t t = 0; t < kTurns; ++t) {
    hn::StoreMaskBits(F32(), make(t), byte);
    all |= static_cast<std::uint32_t>(byte[0]) << (t * kLanes);
  }
  return static_cast<std::uint8_t>(all);
}

// Lane t * kLanes + k of the mask is bit t * kLanes + k of the byte.
HWY_INLINE hn::Mask<F32> MaskOf(std::uint32_t byte, std::size_t t) {
  const U32 du;
  alignas(32) static constexpr std::uint32_t kBit[8] = {1, 2, 4, 8, 16, 32, 64, 128};
  const auto bit = hn::Load(du, kBit + t * kLanes);
  return hn::RebindMask(F32(), hn::TestBit(hn::Set(du, byte), bit));
}

double AddUp(const Eight& lanes) {
  float v[8];
  for (std::size_t t = 0; t < kTurns; ++t) hn::StoreU(lanes.v[t], F32(), v + t * kLanes);
  const auto d = [&](int i) { return static_cast<double>(v[i]); };
  return ((d(0) + d(4)) + (d(1) + d(5))) + ((d(2) + d(6)) + (d(3) + d(7)));
}

struct Sums {
  double negative = 0;
  double positive = 0;
  std::size_t negatives = 0;
};

// Sums and, where `bits` is given, the bits themselves: one pass serves the usual threshold.
Sums SumsBeside(const float* x, std::size_t n, float border, std::uint8_t* HWY_RESTRICT bits) {
  const F32 d;
  const auto limit = hn::Set(d, border);
  Sums total;
  for (std::size_t begin = 0; begin < n; begin += kRun) {
    Eight negative;
    Eight positive;
    for (std::size_t t = 0; t < kTurns; ++t) negative.v[t] = positive.v[t] = hn::Zero(d);
    const std::size_t count = n - begin < kRun ? n - begin : kRun;
    EachEight(x + begin, count, [&](const float* at, std::size_t index) HWY_ATTR {
      const Eight e = LoadEight(at);
      std::uint8_t byte = MaskByte([&](std::size_t t) HWY_ATTR { return hn::Lt(e.v[t], limit); });
      for (std::size_t t = 0; t < kTurns; ++t) {
        const auto below = hn::Lt(e.v[t], limit);
        negative.v[t] = hn::Add(negative.v[t], hn::IfThenElseZero(below, e.v[t]));
        positive.v[t] = hn::Add(positive.v[t], hn::IfThenZeroElse(below, e.v[t]));
      }
      // Padding is no value of the column, whichever side of the border zero is on.
      const std::size_t here = count - index * 8;
      if (here < 8) byte = static_cast<std::uint8_t>(byte & ((1u << here) - 1));
      total.negatives += static_cast<std::size_t>(std::popcount(byte));
      if (bits != nullptr) bits[begin / 8 + index] = byte;
    });
    total.negative += AddUp(negative);
    total.positive += AddUp(positive);
  }
  return total;
}

float MeanOf(double sum, std::size_t count) {
  return count == 0 ? 0 : static_cast<float>(sum / static_cast<double>(count));
}

void OnebitEncode(const float* x, std::size_t n, Threshold threshold, float* means,
                  std::uint8_t* bits) {
  float border = 0;
  if (threshold == Threshold::mean) {
    const Sums all = SumsBeside(x, n, 0, nullptr);
    border = MeanOf(all.negative + all.positive, n);
  }
  const Sums sums = SumsBeside(x, n, border, bits);
  means[0] = MeanOf(sums.negative, sums.negatives);
  means[1] = MeanOf(sums.positive, n - sums.negatives);
}

template <Into into>
void OnebitDecode(const std::uint8_t* bits, std::size_t n, const float* means, float* out) {
  const F32 d;
  const auto negative = hn::Set(d, means[0]);
  const auto positive = hn::Set(d, means[1]);
  const auto eight = [&](std::uint32_t byte, float* to) HWY_ATTR {
    for (std::size_t t = 0; t < kTurns; ++t)
      Land<into>(hn::IfThenElse(MaskOf(byte, t), negative, positive), to + t * kLanes);
  };
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8) eight(bits[i / 8], out + i);
  if (i == n) return;
  float pad[8] = {};
  std::memcpy(pad, out + i, (n - i) * sizeof(float));
  eight(bits[i / 8], pad);
  std::memcpy(out + i, pad, (n - i) * sizeof(float));
}

// Exponent and sign of one vector; see the scalar version for the odds.
struct Natural {
  VU exponent;
  hn::Mask<F32> negative;
};

HWY_INLINE Natural NaturalOf(VF x, const std::uint16_t* HWY_RESTRICT random) {
  const F32 d;
  const U32 du;
  const I32 di;
  const auto bits = hn::BitCast(du, x);
  const auto magnitude = hn::And(bits, hn::Set(du, 0x7fffffffu));
  const auto dice = hn::ShiftLeft<7>(hn::PromoteTo(du, hn::LoadU(U16Half(), random)));
  const auto sum = hn::Add(hn::Add(magnitude, dice), hn::Set(du, 64));
  auto exponent = hn::Min(hn::ShiftRight<23>(sum), hn::Set(du, 254));
  const auto signed_magnitude = hn::BitCast(di, magnitude);
  const auto infinity = hn::Set(di, 0x7f800000);
  const auto is_inf = hn::RebindMask(du, hn::Eq(signed_magnitude, infinity));
  const auto is_nan = hn::RebindMask(du, hn::Gt(signed_magnitude, infinity));
  exponent = hn::IfThenElse(is_inf, hn::Set(du, 255), exponent);
  exponent = hn::IfThenZeroElse(is_nan, exponent);
  const auto zero = hn::Eq(exponent, hn::Zero(du));
  const auto below = hn::RebindMask(du, hn::Lt(hn::BitCast(di, bits), hn::Zero(di)));
  const auto negative = hn::Or(is_nan, hn::AndNot(zero, below));
  return {exponent, hn::RebindMask(d, negative)};
}

void NaturalEncode(const float* x, std::size_t n, const std::uint16_t* random, std::uint8_t* signs,
                   std::uint8_t* exponents) {
  const U8Quarter d8;
  EachEight(x, n, [&](const float* at, std::size_t index) HWY_ATTR {
    const std::size_t i = index * 8;
    std::uint8_t held[16];
    signs[index] = MaskByte([&](std::size_t t) HWY_ATTR {
      const Natural natural = NaturalOf(hn::LoadU(F32(), at + t * kLanes), random + i + t * kLanes);
      hn::StoreU(hn::TruncateTo(d8, natural.exponent), d8, held + t * kLanes);
      return natural.negative;
    });
    std::memcpy(exponents + i, held, n - i < 8 ? n - i : 8);
  });
  // Padding is +0, whose bits are 0 already.
}

template <Into into>
void NaturalDecode(const std::uint8_t* signs, const std::uint8_t* exponents, std::size_t n,
                   float factor, float* out) {
  const F32 d;
  const U32 du;
  const auto scale = hn::Set(d, factor);
  const auto eight = [&](std::uint32_t byte, const std::uint8_t* codes, float* to) HWY_ATTR {
    for (std::size_t t = 0; t < kTurns; ++t) {
      const auto exponent = LoadCodes(codes + t * kLanes);
      const auto negative = hn::RebindMask(du, MaskOf(byte, t));
      const auto sign = hn::IfThenElseZero(negative, hn::Set(du, 0x80000000u));
      const auto bits = hn::Or(hn::ShiftLeft<23>(exponent), sign);
      const auto is_nan = hn::Eq(bits, hn::Set(du, 0x80000000u));
      const auto value = hn::IfThenElse(is_nan, hn::Set(du, 0x7fc00000u), bits);
      Land<into>(hn::Mul(hn::BitCast(d, value), scale), to + t * kLanes);
    }
  };
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8) eight(signs[i / 8], exponents + i, out + i);
  if (i == n) return;
  float pad[8] = {};
  std::uint8_t codes[8] = {};
  std::memcpy(pad, out + i, (n - i) * sizeof(float));
  std::memcpy(codes, exponents + i, n - i);
  eight(signs[i / 8], codes, pad);
  std::memcpy(out + i, pad, (n - i) * sizeof(float));
}

void Fill(Kernels& table) {
  table.onebit_encode = OnebitEncode;
  table.onebit_decode = {OnebitDecode<Into::overwrite>, OnebitDecode<Into::sum>};
  table.natural_encode = NaturalEncode;
  table.natural_decode = {NaturalDecode<Into::overwrite>, NaturalDecode<Into::sum>};
}

}  // namespace
}  // namespace narrowcast::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace narrowcast::kernel {
HWY_EXPORT(Fill);
void simd_signs(Kernels& table) { HWY_DYNAMIC_DISPATCH(Fill)(table); }
}  // namespace narrowcast::kernel
#endif
