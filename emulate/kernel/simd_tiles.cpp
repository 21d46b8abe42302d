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

// One vector of sums, which takes its terms in order.
struct Plain {
  HWY_INLINE void Load(const Tile& tile, std::size_t r, std::size_t c) {
    sum = hn::Load(F32(), tile.sum[r] + c);
  }
  HWY_INLINE void Store(Tile& tile, std::size_t r, std::size_t c) const {
    hn::Store(sum, F32(), tile.sum[r] + c);
  }
  template <class Sum>
  HWY_INLINE void Take(VF product, const Sum& near, std::size_t r, std::size_t at) {
    sum = near.Round(hn::Add(sum, product), Turn::sum, r, at);
  }

  VF sum;
};

// The same after Kahan.
struct Compensated {
  HWY_INLINE void Load(const Tile& tile, std::size_t r, std::size_t c) {
    sum = hn::Load(F32(), tile.sum[r] + c);
    rest = hn::Load(F32(), tile.rest[r] + c);
  }
  HWY_INLINE void Store(Tile& tile, std::size_t r, std::size_t c) const {
    hn::Store(sum, F32(), tile.sum[r] + c);
    hn::Store(rest, F32(), tile.rest[r] + c);
  }
  template <class Sum>
  HWY_INLINE void Take(VF product, const Sum& near, std::size_t r, std::size_t at) {
    const auto addend = near.Round(hn::Sub(product, rest), Turn::addend, r, at);
    const auto next = near.Round(hn::Add(sum, addend), Turn::sum, r, at);
    const auto difference = near.Round(hn::Sub(next, sum), Turn::difference, r, at);
    rest = FiniteOrZero(near.Round(hn::Sub(difference, addend), Turn::rest, r, at));
    sum = next;
  }

  VF sum;
  VF rest;
};

template <class Product, class Sum, class Total>
void Add(const Terms& terms, Tile& tile) {
  const F32 d;
  const Product product(*terms.product, terms);
  const Sum sum(*terms.sum, terms);
  Total totals[kRows][kVectors];
  for (std::size_t r = 0; r < kRows; ++r)
    for (std::size_t v = 0; v < kVectors; ++v) totals[r][v].Load(tile, r, v * kLanes);
  const float* HWY_RESTRICT a = terms.a;
  const float* HWY_RESTRICT b = terms.b;
  for (std::size_t t = 0; t < terms.count; ++t, a += kRows, b += kColumns) {
#pragma GCC unroll 2
    for (std::size_t v = 0; v < kVectors; ++v) {
      const auto column = hn::LoadU(d, b + v * kLanes);
      const std::size_t at = t * kColumns + v * kLanes;
#pragma GCC unroll 8
      for (std::size_t r = 0; r < kRows; ++r)
        totals[r][v].Take(product.Round(hn::Mul(hn::Set(d, a[r]), column), Turn::product, r, at),
                          sum, r, at);
    }
  }
  for (std::size_t r = 0; r < kRows; ++r)
    for (std::size_t v = 0; v < kVectors; ++v) totals[r][v].Store(tile, r, v * kLanes);
}

template <class Product, class Total>
void BySum(const Terms& terms, Tile& tile) {
  switch (terms.sum->shortcut) {
    case Shortcut::identity:
      return Add<Product, Quick<Untouched>, Total>(terms, tile);
    case Shortcut::magic:
      return Add<Product, Quick<ByMagic>, Total>(terms, tile);
    case Shortcut::carry:
      if constexpr (std::is_same_v<Product, Quick<WithinReach>>)
        if (InTheMiddle::Serves(terms)) return Add<Product, Quick<InTheMiddle>, Total>(terms, tile);
      return Add<Product, Quick<ByCarry>, Total>(terms, tile);
    case Shortcut::none:
      return Add<Product, Any, Total>(terms, tile);
  }
}

template <class Total>
void ByProduct(const Terms& terms, Tile& tile) {
  switch (terms.product->shortcut) {
    case Shortcut::identity:
      return BySum<Quick<Untouched>, Total>(terms, tile);
    case Shortcut::magic:
      if (WithinReach::Serves(terms)) return BySum<Quick<WithinReach>, Total>(terms, tile);
      return BySum<Quick<ByMagic>, Total>(terms, tile);
    case Shortcut::carry:
      return BySum<Quick<ByCarry>, Total>(terms, tile);
    case Shortcut::none:
      return BySum<Any, Total>(terms, tile);
  }
}

void Fill(Kernels& table) {
  table.add = ByProduct<Plain>;
  table.add_compensated = ByProduct<Compensated>;
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
