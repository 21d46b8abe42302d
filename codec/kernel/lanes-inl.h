// What all vector kernels share. Included once for each target (Highway's foreach_target).
#if defined(NARROWCAST_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NARROWCAST_LANES_INL_H_
#undef NARROWCAST_LANES_INL_H_
#else
#define NARROWCAST_LANES_INL_H_
#endif

#include <hwy/highway.h>

#include <bit>
#include <cstring>

#include "codec/kernel/kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace narrowcast::kernel::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// At most eight lanes: sums and dice are defined over eight, and a target with fewer takes turns.
using F32 = hn::CappedTag<float, 8>;
using U32 = hn::RebindToUnsigned<F32>;
using I32 = hn::RebindToSigned<F32>;
using U8Quarter = hn::Rebind<std::uint8_t, F32>;
using U16Half = hn::Rebind<std::uint16_t, F32>;
using VF = hn::Vec<F32>;
using VU = hn::Vec<U32>;
using VI = hn::Vec<I32>;

constexpr std::size_t kLanes = hn::MaxLanes(F32());
static_assert(kLanes == 4 || kLanes == 8);

// Kernels work on units of this many values; a last, shorter one goes through padded copies.
constexpr std::size_t kUnit = 32;

// body(x, out, i) turns kUnit values at x into kUnit codes at out; i is their index.
template <class Code, class Body>
HWY_INLINE void EncodeUnits(const float* HWY_RESTRICT x, std::size_t n, Code* HWY_RESTRICT out,
                            Body body) {
  std::size_t i = 0;
  for (; i + kUnit <= n; i += kUnit) body(x + i, out + i, i);
  if (i == n) return;
  alignas(64) float in_pad[kUnit] = {};
  alignas(64) Code out_pad[kUnit];
  std::memcpy(in_pad, x + i, (n - i) * sizeof(float));
  body(in_pad, out_pad, i);
  std::memcpy(out + i, out_pad, (n - i) * sizeof(Code));
}

// body(codes, out) turns kUnit codes into kUnit values at out, by Land.
template <class Code, class Body>
HWY_INLINE void DecodeUnits(const Code* HWY_RESTRICT codes, std::size_t n, float* HWY_RESTRICT out,
                            Body body) {
  std::size_t i = 0;
  for (; i + kUnit <= n; i += kUnit) body(codes + i, out + i);
  if (i == n) return;
  alignas(64) Code in_pad[kUnit] = {};
  alignas(64) float out_pad[kUnit] = {};
  std::memcpy(in_pad, codes + i, (n - i) * sizeof(Code));
  std::memcpy(out_pad, out + i, (n - i) * sizeof(float));
  body(in_pad, out_pad);
  std::memcpy(out + i, out_pad, (n - i) * sizeof(float));
}

template <Into into>
HWY_INLINE void Land(VF value, float* HWY_RESTRICT out) {
  const F32 d;
  if (into == Into::sum) value = hn::Add(hn::LoadU(d, out), value);
  hn::StoreU(value, d, out);
}

// Four vectors of values below 256 into their low bytes, in order.
HWY_INLINE void StoreBytes(VU a, VU b, VU c, VU e, std::uint8_t* HWY_RESTRICT out) {
  const U32 du;
  const hn::Repartition<std::uint8_t, U32> db;
  // Lane j now has the bytes of a[j], b[j], c[j], e[j]; a transposition within each block of four
  // lanes brings the bytes of one vector together, and one of lanes joins the blocks.
  const auto mixed =
      hn::Or(hn::Or(a, hn::ShiftLeft<8>(b)), hn::Or(hn::ShiftLeft<16>(c), hn::ShiftLeft<24>(e)));
  alignas(16) static constexpr std::uint8_t kTranspose[16] = {0, 4, 8,  12, 1, 5, 9,  13,
                                                              2, 6, 10, 14, 3, 7, 11, 15};
  const auto blocks = hn::TableLookupBytes(hn::BitCast(db, mixed), hn::LoadDup128(db, kTranspose));
  auto ordered = hn::BitCast(du, blocks);
  if (kLanes == 8) {
    alignas(32) static constexpr std::int32_t kJoin[8] = {0, 4, 1, 5, 2, 6, 3, 7};
    ordered = hn::TableLookupLanes(ordered, hn::SetTableIndices(du, kJoin));
  }
  hn::StoreU(hn::BitCast(db, ordered), db, out);
}

// Stores what make(j) gives for the kUnit values at j = 0, kLanes, ... as bytes.
template <class Make>
HWY_INLINE void StoreUnit(std::uint8_t* HWY_RESTRICT out, Make make) {
  for (std::size_t j = 0; j < kUnit; j += 4 * kLanes)
    StoreBytes(make(j), make(j + kLanes), make(j + 2 * kLanes), make(j + 3 * kLanes), out + j);
}
template <class Make>
HWY_INLINE void StoreUnit(std::uint16_t* HWY_RESTRICT out, Make make) {
  const U16Half d;
  for (std::size_t j = 0; j < kUnit; j += kLanes)
    hn::StoreU(hn::TruncateTo(d, make(j)), d, out + j);
}
template <class Make>
HWY_INLINE void StoreUnit(std::uint32_t* HWY_RESTRICT out, Make make) {
  const U32 d;
  for (std::size_t j = 0; j < kUnit; j += kLanes) hn::StoreU(make(j), d, out + j);
}

HWY_INLINE VU LoadCodes(const std::uint8_t* HWY_RESTRICT codes) {
  return hn::PromoteTo(U32(), hn::LoadU(U8Quarter(), codes));
}
HWY_INLINE VU LoadCodes(const std::uint16_t* HWY_RESTRICT codes) {
  return hn::PromoteTo(U32(), hn::LoadU(U16Half(), codes));
}
HWY_INLINE VU LoadCodes(const std::uint32_t* HWY_RESTRICT codes) { return hn::LoadU(U32(), codes); }

}  // namespace narrowcast::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // NARROWCAST_LANES_INL_H_
