// The kernels of scalar_vectors.cpp for every vector target, from one source.
#include "codec/kernel/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codec/kernel/simd_vectors.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include "codec/kernel/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace narrowcast::kernel::HWY_NAMESPACE {
namespace {

// Calls body(vector) for all of x; the last one is filled up with zeros.
template <class Body>
HWY_INLINE void EachVector(const float* HWY_RESTRICT x, std::size_t n, Body body) {
  const F32 d;
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) body(hn::LoadU(d, x + i));
  if (i == n) return;
  alignas(32) float pad[kLanes] = {};
  std::memcpy(pad, x + i, (n - i) * sizeof(float));
  body(hn::Load(d, pad));
}

float AbsMax(const float* x, std::size_t n) {
  const F32 d;
  const I32 di;  // magnitudes are positive, and signed maxima exist on every target
  const auto magnitude = hn::Set(di, 0x7fffffff);
  // Four chains hide the latency of the maximum.
  VI most[4] = {hn::Zero(di), hn::Zero(di), hn::Zero(di), hn::Zero(di)};
  std::size_t i = 0;
  for (; i + 4 * kLanes <= n; i += 4 * kLanes)
    for (std::size_t k = 0; k < 4; ++k) {
      const auto v = hn::BitCast(di, hn::LoadU(d, x + i + k * kLanes));
      most[k] = hn::Max(most[k], hn::And(v, magnitude));
    }
  EachVector(x + i, n - i, [&](VF v) HWY_ATTR {
    most[0] = hn::Max(most[0], hn::And(hn::BitCast(di, v), magnitude));
  });
  const auto all = hn::Max(hn::Max(most[0], most[1]), hn::Max(most[2], most[3]));
  return hn::GetLane(hn::BitCast(d, hn::MaxOfLanes(di, all)));
}

double Squares(const float* x, std::size_t n) {
  using F64 = hn::CappedTag<double, 8>;
  const F64 d;
  constexpr std::size_t kDoubles = hn::MaxLanes(F64());
  constexpr std::size_t kTurns = 8 / kDoubles;
  const hn::Rebind<float, F64> df;
  hn::Vec<F64> sum[kTurns];
  for (std::size_t t = 0; t < kTurns; ++t) sum[t] = hn::Zero(d);
  const auto take = [&](const float* eight) HWY_ATTR {
    for (std::size_t t = 0; t < kTurns; ++t) {
      const auto v = hn::PromoteTo(d, hn::LoadU(df, eight + t * kDoubles));
      sum[t] = hn::Add(sum[t], hn::Mul(v, v));
    }
  };
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8) take(x + i);
  if (i < n) {
    float pad[8] = {};
    std::memcpy(pad, x + i, (n - i) * sizeof(float));
    take(pad);
  }
  double v[8];
  for (std::size_t t = 0; t < kTurns; ++t) hn::StoreU(sum[t], d, v + t * kDoubles);
  return ((v[0] + v[4]) + (v[1] + v[5])) + ((v[2] + v[6]) + (v[3] + v[7]));
}

void Scale(const float* x, std::size_t n, float factor, float* out) {
  const auto f = hn::Set(F32(), factor);
  DecodeUnits(x, n, out, [&](const float* in, float* to) HWY_ATTR {
    for (std::size_t j = 0; j < kUnit; j += kLanes)
      Land<Into::overwrite>(hn::Mul(hn::LoadU(F32(), in + j), f), to + j);
  });
}

void AddScaled(const float* x, std::size_t n, float factor, float* sum) {
  const auto f = hn::Set(F32(), factor);
  DecodeUnits(x, n, sum, [&](const float* in, float* to) HWY_ATTR {
    for (std::size_t j = 0; j < kUnit; j += kLanes)
      Land<Into::sum>(hn::Mul(hn::LoadU(F32(), in + j), f), to + j);
  });
}

void Settle(const float* decoded, std::size_t n, float* residual) {
  const F32 d;
  const auto infinity = hn::Set(d, std::bit_cast<float>(0x7f800000u));
  DecodeUnits(decoded, n, residual, [&](const float* in, float* to) HWY_ATTR {
    for (std::size_t j = 0; j < kUnit; j += kLanes) {
      const auto left = hn::Sub(hn::LoadU(d, to + j), hn::LoadU(d, in + j));
      hn::StoreU(hn::IfThenElseZero(hn::Lt(hn::Abs(left), infinity), left), d, to + j);
    }
  });
}

using U64 = hn::CappedTag<std::uint64_t, 4>;
using VQ = hn::Vec<U64>;
constexpr std::size_t kWide = hn::MaxLanes(U64());

// Philox on 64-bit lanes that hold one 32-bit word each: the multiplier reads the low half only, so
// the high halves may hold anything, and a product's low word needs no extraction.
struct Philox {
  explicit HWY_INLINE Philox(const Stream& stream)
      : salt_low(hn::Set(U64(), stream.salt & 0xffffffffu)),
        salt_high(hn::Set(U64(), stream.salt >> 32)) {
    auto k0 = static_cast<std::uint32_t>(stream.key);
    auto k1 = static_cast<std::uint32_t>(stream.key >> 32);
    for (int round = 0; round < kPhiloxRounds; ++round) {
      keys[round][0] = hn::Set(U64(), k0);
      keys[round][1] = hn::Set(U64(), k1);
      k0 += 0x9e3779b9u;
      k1 += 0xbb67ae85u;
    }
  }

  HWY_INLINE void Words(std::uint64_t counter, VQ* c) const {
    const hn::Repartition<std::uint32_t, U64> dw;
    const auto m0 = hn::BitCast(dw, hn::Set(U64(), 0xd2511f53u));
    const auto m1 = hn::BitCast(dw, hn::Set(U64(), 0xcd9e8d57u));
    alignas(32) static constexpr std::uint64_t kLane[4] = {0, 1, 2, 3};
    c[0] = hn::Add(hn::Set(U64(), counter), hn::Load(U64(), kLane));
    c[1] = hn::ShiftRight<32>(c[0]);
    c[2] = salt_low;
    c[3] = salt_high;
    for (int round = 0; round < kPhiloxRounds; ++round) {
      const auto a = hn::MulEven(hn::BitCast(dw, c[0]), m0);
      const auto b = hn::MulEven(hn::BitCast(dw, c[2]), m1);
      c[0] = hn::Xor(hn::ShiftRight<32>(b), hn::Xor(c[1], keys[round][0]));
      c[2] = hn::Xor(hn::ShiftRight<32>(a), hn::Xor(c[3], keys[round][1]));
      c[1] = b;
      c[3] = a;
    }
  }

  VQ salt_low, salt_high;
  VQ keys[kPhiloxRounds][2];
};

void Random16(const Stream& stream, std::uint64_t first_group, std::size_t groups,
              std::uint16_t* out) {
  const hn::Repartition<std::uint32_t, U64> dw;
  const Philox philox(stream);
  for (std::size_t g = 0; g < groups; ++g) {
    const std::uint64_t first = (first_group + g) * 8;
    auto* words = reinterpret_cast<std::uint32_t*>(out + g * kRandomGroup);
    for (std::size_t turn = 0; turn < 4; turn += kWide) {
      VQ even[4];
      VQ odd[4];
      philox.Words(first + turn, even);
      philox.Words(first + turn + 4, odd);
      for (std::size_t w = 0; w < 4; ++w) {
        const auto both =
            hn::OddEven(hn::BitCast(dw, hn::ShiftLeft<32>(odd[w])), hn::BitCast(dw, even[w]));
        hn::StoreU(both, dw, words + w * 8 + turn * 2);
      }
    }
  }
}

// The entries of kLanes cells. Plain loads beat the gather instruction on the CPUs measured.
HWY_INLINE VU Entries(const std::uint32_t* HWY_RESTRICT cells, VU index) {
  const U32 du;
  alignas(32) std::uint32_t at[kLanes];
  alignas(32) std::uint32_t entry[kLanes];
  hn::Store(index, du, at);
  for (std::size_t k = 0; k < kLanes; ++k) entry[k] = cells[at[k]];
  return hn::Load(du, entry);
}

// Ranks of one vector as bytes: see Codebook::cells.
template <CodeOrder order>
HWY_INLINE VU RankBytes(VF x, VF inverse, const Codebook& book) {
  const U32 du;
  const I32 di;
  const auto bits = hn::BitCast(du, hn::Mul(x, inverse));
  const auto entry = Entries(book.cells(), hn::ShiftRightSame(bits, book.low_bits()));
  const auto low = hn::And(bits, hn::Set(du, (1u << book.low_bits()) - 1));
  const auto placed = hn::BitCast(di, hn::ShiftLeftSame(low, book.place()));
  const auto beyond = hn::BitCast(du, hn::VecFromMask(di, hn::Gt(placed, hn::BitCast(di, entry))));
  const auto byte = hn::And(entry, hn::Set(du, 0xffu));
  if (order != CodeOrder::ascending) return hn::Sub(byte, beyond);
  const std::uint32_t step_mask = (1u << (book.place() - Codebook::kStepPlace)) - 1;
  const auto step = hn::And(hn::ShiftRight<Codebook::kStepPlace>(entry), hn::Set(du, step_mask));
  const auto code = hn::Add(byte, hn::And(step, beyond));
  const auto negative = hn::BitCast(du, hn::BroadcastSignBit(hn::BitCast(di, bits)));
  return hn::Xor(code, hn::And(negative, hn::Set(du, 0xffu)));
}

// Rank to pattern of the dynamic tree, on 32 bytes: rank + 1, but 0 stays and 127 becomes 1.
HWY_INLINE void RanksToPatterns(std::uint8_t* HWY_RESTRICT bytes) {
  const hn::CappedTag<std::uint8_t, 32> d;
  const auto magnitude = hn::Set(d, 0x7f);
  for (std::size_t j = 0; j < kUnit; j += hn::Lanes(d)) {
    const auto rank = hn::LoadU(d, bytes + j);
    const auto low = hn::And(rank, magnitude);
    const auto is_zero = hn::VecFromMask(d, hn::Eq(low, hn::Zero(d)));
    const auto next = hn::Add(hn::Add(rank, hn::Set(d, 1)), is_zero);
    const auto one = hn::Xor(rank, hn::Set(d, 0x7e));
    hn::StoreU(hn::IfThenElse(hn::Eq(low, magnitude), one, next), d, bytes + j);
  }
}

template <CodeOrder order>
HWY_INLINE void CodebookUnits(const float* x, std::size_t n, float inverse, const Codebook& book,
                              std::uint8_t* codes) {
  const F32 d;
  const auto scale = hn::Set(d, inverse);
  EncodeUnits(x, n, codes, [&](const float* in, std::uint8_t* out, std::size_t) HWY_ATTR {
    StoreUnit(out, [&](std::size_t j)
                       HWY_ATTR { return RankBytes<order>(hn::LoadU(d, in + j), scale, book); });
    if (order == CodeOrder::dynamic_tree) RanksToPatterns(out);
  });
}

void CodebookEncode(const float* x, std::size_t n, float inverse, const Codebook& book,
                    std::uint8_t* codes) {
  switch (book.order()) {
    case CodeOrder::sign_magnitude:
      CodebookUnits<CodeOrder::sign_magnitude>(x, n, inverse, book, codes);
      break;
    case CodeOrder::dynamic_tree:
      CodebookUnits<CodeOrder::dynamic_tree>(x, n, inverse, book, codes);
      break;
    case CodeOrder::ascending:
      CodebookUnits<CodeOrder::ascending>(x, n, inverse, book, codes);
      break;
  }
}

template <Into into>
void Lookup(const std::uint8_t* codes, std::size_t n, const float* table, float* out) {
  const F32 d;
  DecodeUnits(codes, n, out, [&](const std::uint8_t* in, float* to) HWY_ATTR {
    alignas(32) float values[kUnit];
    for (std::size_t j = 0; j < kUnit; ++j) values[j] = table[in[j]];
    for (std::size_t j = 0; j < kUnit; j += kLanes) Land<into>(hn::Load(d, values + j), to + j);
  });
}

void Fill(Kernels& table) {
  table.absmax = AbsMax;
  table.squares = Squares;
  table.scale = Scale;
  table.add_scaled = AddScaled;
  table.settle = Settle;
  table.random16 = Random16;
  table.codebook_encode = CodebookEncode;
  table.lookup = {Lookup<Into::overwrite>, Lookup<Into::sum>};
}

}  // namespace
}  // namespace narrowcast::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace narrowcast::kernel {
HWY_EXPORT(Fill);
void simd_vectors(Kernels& table) { HWY_DYNAMIC_DISPATCH(Fill)(table); }
}  // namespace narrowcast::kernel
#endif
