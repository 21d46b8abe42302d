// The kernels of scalar_tiles.cpp for every vector target, from one source. Lanes are columns: each has
// its own sum, and takes its terms in order.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "emulate/kernel/simd_tiles.cpp"
#include "codec/each_target.h"
// After each_target.
#include <type_traits>

#include "codec/rounding-inl.h"
#include "emulate/kernel/tile.hpp"

HWY_BEFORE_NAMESPACE();
namespace narrowcast::emulated::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using kernel::Format;
using kernel::Rounding;
using kernel::Shortcut;
using kernel::HWY_NAMESPACE::ByCarry;
using kernel::HWY_NAMESPACE::ByMagic;
using kernel::HWY_NAMESPACE::Decoder;
using kernel::HWY_NAMESPACE::Encoder;
using kernel::HWY_NAMESPACE::F32;
using kernel::HWY_NAMESPACE::I32;
using kernel::HWY_NAMESPACE::kLanes;
using kernel::HWY_NAMESPACE::Untouched;
using kernel::HWY_NAMESPACE::VF;
using kernel::HWY_NAMESPACE::VI;

constexpr std::size_t kVectors = kColumns / kLanes;

// A rounding without dice, by shortcut.
template <class Rounder>
struct Quick {
  Quick(const Format& format, const Terms&) : rounder(format) {}
  HWY_INLINE VF Round(VF x, Turn, std::size_t, std::size_t) const { return rounder.Round(x); }
  Rounder rounder;
};

// Shortcut::magic for values that cannot overflow, of either sign; zeros come out positive.
struct WithinReach {
  explicit HWY_INLINE WithinReach(const Format& f)
      : lowest(hn::Set(I32(), (f.emin + 127) << 23)),
        // One and a half times a power of two: adding a negative value stays within its binade.
        up(hn::Set(I32(), (f.shift << 23) + (1 << 22))),
        exponent(hn::Set(I32(), 0x7f800000)) {}

  HWY_INLINE VF Round(VF x) const {
    const auto field = hn::Max(hn::And(hn::BitCast(I32(), x), exponent), lowest);
    const auto magic = hn::BitCast(F32(), hn::Add(field, up));
    return hn::Sub(hn::Add(x, magic), magic);
  }

  // With fewer bits to drop the sum would leave the binade.
  static bool Serves(const Terms& terms) {
    return terms.reach == Reach::within && terms.product->shift >= 2;
  }

  VI lowest;
  VI up;
  VI exponent;
};

// Shortcut::carry where products are WithinReach: they are multiples of 2^-84 at least and below 2^64,
// so that no sum of them is subnormal or near the largest float32.
struct InTheMiddle {
  explicit HWY_INLINE InTheMiddle(const Format& f)
      : up(hn::Set(I32(), (f.shift << 23) + (1 << 22))), exponent(hn::Set(I32(), 0x7f800000)) {}

  HWY_INLINE VF Round(VF x) const {
    const auto field = hn::And(hn::BitCast(I32(), x), exponent);
    const auto magic = hn::BitCast(F32(), hn::Add(field, up));
    return hn::Sub(hn::Add(x, magic), magic);
  }

  static bool Serves(const Terms& terms) { return terms.sum->shift >= 2; }

  VI up;
  VI exponent;
};

// Any other, by way of the code.
struct Any {
  Any(const Format& format, const Terms& terms)
      : encoder(format), decoder(format), dice(terms.dice), rounding(format.rounding) {}

  HWY_INLINE VF Round(VF x, Turn turn, std::size_t row, std::size_t at) const {
    VF near;
    switch (rounding) {
      case Rounding::nearest:
        near = decoder.Value(encoder.Code<Rounding::nearest>(x, nullptr));
        break;
      case Rounding::zero:
        near = decoder.Value(encoder.Code<Rounding::zero>(x, nullptr));
        break;
      case Rounding::stochastic:
        near = decoder.Value(encoder.Code<Rounding::stochastic>(
            x, (*dice)[static_cast<std::size_t>(turn)][row].data() + at));
        break;
    }
    return hn::IfThenElse(hn::IsNaN(x), x, near);
  }

  Encoder encoder;
  Decoder decoder;
  const Dice* dice;
  Rounding rounding;
};

HWY_INLINE VF FiniteOrZero(VF x) {
  const auto infinity = hn::Set(F32(), std::bit_cast<float>(0x7f800000u));
  return hn::IfThenElseZero(hn::Lt(hn::Abs(x), infinity), x);
}

template <class Product, class Sum>
void Add(const Terms& terms, Tile& tile) {
  const F32 d;
  const Product product(*terms.product, terms);
  const Sum sum(*terms.sum, terms);
  VF sums[kRows][kVectors];
  for (std::size_t r = 0; r < kRows; ++r)
    for (std::size_t v = 0; v < kVectors; ++v) sums[r][v] = hn::Load(d, tile.sum[r] + v * kLanes);
  const float* HWY_RESTRICT a = terms.a;
  const float* HWY_RESTRICT b = terms.b;
  for (std::size_t t = 0; t < terms.count; ++t, a += kRows, b += kColumns) {
#pragma GCC unroll 2
    for (std::size_t v = 0; v < kVectors; ++v) {
      const auto column = hn::LoadU(d, b + v * kLanes);
      const std::size_t at = t * kColumns + v * kLanes;
#pragma GCC unroll 4
      for (std::size_t r = 0; r < kRows; ++r) {
        const auto p = product.Round(hn::Mul(hn::Set(d, a[r]), column), Turn::product, r, at);
        sums[r][v] = sum.Round(hn::Add(sums[r][v], p), Turn::sum, r, at);
      }
    }
  }
  for (std::size_t r = 0; r < kRows; ++r)
    for (std::size_t v = 0; v < kVectors; ++v) hn::Store(sums[r][v], d, tile.sum[r] + v * kLanes);
}

template <class Product, class Sum>
void AddCompensated(const Terms& terms, Tile& tile) {
  const F32 d;
  const Product product(*terms.product, terms);
  const Sum sum(*terms.sum, terms);
  VF sums[kRows][kVectors];
  VF rests[kRows][kVectors];
  for (std::size_t r = 0; r < kRows; ++r)
    for (std::size_t v = 0; v < kVectors; ++v) {
      sums[r][v] = hn::Load(d, tile.sum[r] + v * kLanes);
      rests[r][v] = hn::Load(d, tile.rest[r] + v * kLanes);
    }
  const float* HWY_RESTRICT a = terms.a;
  const float* HWY_RESTRICT b = terms.b;
  for (std::size_t t = 0; t < terms.count; ++t, a += kRows, b += kColumns) {
#pragma GCC unroll 2
    for (std::size_t v = 0; v < kVectors; ++v) {
      const auto column = hn::LoadU(d, b + v * kLanes);
      const std::size_t at = t * kColumns + v * kLanes;
#pragma GCC unroll 4
      for (std::size_t r = 0; r < kRows; ++r) {
        const auto p = product.Round(hn::Mul(hn::Set(d, a[r]), column), Turn::product, r, at);
        const auto addend = sum.Round(hn::Sub(p, rests[r][v]), Turn::addend, r, at);
        const auto next = sum.Round(hn::Add(sums[r][v], addend), Turn::sum, r, at);
        const auto difference = sum.Round(hn::Sub(next, sums[r][v]), Turn::difference, r, at);
        rests[r][v] = FiniteOrZero(sum.Round(hn::Sub(difference, addend), Turn::rest, r, at));
        sums[r][v] = next;
      }
    }
  }
  for (std::size_t r = 0; r < kRows; ++r)
    for (std::size_t v = 0; v < kVectors; ++v) {
      hn::Store(sums[r][v], d, tile.sum[r] + v * kLanes);
      hn::Store(rests[r][v], d, tile.rest[r] + v * kLanes);
    }
}

template <class Product, class Sum, bool compensated>
void Run(const Terms& terms, Tile& tile) {
  if constexpr (compensated)
    AddCompensated<Product, Sum>(terms, tile);
  else
    Add<Product, Sum>(terms, tile);
}

template <class Product, bool compensated>
void BySum(const Terms& terms, Tile& tile) {
  switch (terms.sum->shortcut) {
    case Shortcut::identity:
      return Run<Product, Quick<Untouched>, compensated>(terms, tile);
    case Shortcut::magic:
      return Run<Product, Quick<ByMagic>, compensated>(terms, tile);
    case Shortcut::carry:
      if constexpr (std::is_same_v<Product, Quick<WithinReach>>)
        if (InTheMiddle::Serves(terms))
          return Run<Product, Quick<InTheMiddle>, compensated>(terms, tile);
      return Run<Product, Quick<ByCarry>, compensated>(terms, tile);
    case Shortcut::none:
      return Run<Product, Any, compensated>(terms, tile);
  }
}

template <bool compensated>
void ByProduct(const Terms& terms, Tile& tile) {
  switch (terms.product->shortcut) {
    case Shortcut::identity:
      return BySum<Quick<Untouched>, compensated>(terms, tile);
    case Shortcut::magic:
      if (WithinReach::Serves(terms)) return BySum<Quick<WithinReach>, compensated>(terms, tile);
      return BySum<Quick<ByMagic>, compensated>(terms, tile);
    case Shortcut::carry:
      return BySum<Quick<ByCarry>, compensated>(terms, tile);
    case Shortcut::none:
      return BySum<Any, compensated>(terms, tile);
  }
}

void Fill(Kernels& table) {
  table.add = ByProduct<false>;
  table.add_compensated = ByProduct<true>;
}

}  // namespace
}  // namespace narrowcast::emulated::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace narrowcast::emulated {
HWY_EXPORT(Fill);
void simd_tiles(Kernels& table) { HWY_DYNAMIC_DISPATCH(Fill)(table); }
}  // namespace narrowcast::emulated
#endif
