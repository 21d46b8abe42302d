// The kernels of scalar_levels.cpp for every vector target, from one source.
#include "codec/kernel/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codec/kernel/simd_levels.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include "codec/kernel/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace narrowcast::kernel::HWY_NAMESPACE {
namespace {

void LinearEncode(const float* x, std::size_t n, float inverse, std::uint8_t* codes) {
  const F32 d;
  const I32 di;
  const U32 du;
  const auto scale = hn::Set(d, inverse);
  const auto most = hn::Set(di, 127);
  EncodeUnits(x, n, codes, [&](const float* in, std::uint8_t* out, std::size_t) HWY_ATTR {
    StoreUnit(out, [&](std::size_t j) HWY_ATTR {
      const auto v = hn::LoadU(d, in + j);
      const auto level = hn::Min(hn::NearestInt(hn::Mul(hn::Abs(v), scale)), most);
      const auto sign = hn::ShiftLeft<7>(hn::ShiftRight<31>(hn::BitCast(du, v)));
      return hn::Or(hn::BitCast(du, level), sign);
    });
  });
}

template <Into into>
void LinearDecode(const std::uint8_t* codes, std::size_t n, float step, float* out) {
  const F32 d;
  const I32 di;
  const U32 du;
  const auto factor = hn::Set(d, step);
  const auto magnitude = hn::Set(du, 0x7fu);
  const auto sign_bit = hn::Set(du, 0x80000000u);
  DecodeUnits(codes, n, out, [&](const std::uint8_t* in, float* to) HWY_ATTR {
    for (std::size_t j = 0; j < kUnit; j += kLanes) {
      const auto code = LoadCodes(in + j);
      const auto level = hn::ConvertTo(d, hn::BitCast(di, hn::And(code, magnitude)));
      const auto sign = hn::And(hn::ShiftLeft<24>(code), sign_bit);
      Land<into>(hn::Xor(hn::Mul(level, factor), hn::BitCast(d, sign)), to + j);
    }
  });
}

// What fixed point leaves of one vector, with its low byte or half being the level.
struct Dice16 {
  VF inverse;
  VF most;
  HWY_INLINE VI operator()(const float* HWY_RESTRICT x,
                           const std::uint16_t* HWY_RESTRICT random) const {
    const F32 d;
    const I32 di;
    const auto scaled = hn::Mul(hn::LoadU(d, x), inverse);
    const auto clamped = hn::Min(hn::Max(scaled, hn::Neg(most)), most);
    const auto fixed = hn::NearestInt(clamped);
    const auto dice = hn::BitCast(di, hn::PromoteTo(U32(), hn::LoadU(U16Half(), random)));
    return hn::ShiftRight<16>(hn::Add(fixed, dice));
  }
};

HWY_INLINE Dice16 MakeDice(float inverse, int limit) {
  const F32 d;
  return {hn::Set(d, inverse), hn::Set(d, static_cast<float>(limit) * 65536.0f)};
}

void Stochastic8(const float* x, std::size_t n, float inverse, int limit,
                 const std::uint16_t* random, std::int8_t* levels) {
  const U32 du;
  const Dice16 dice = MakeDice(inverse, limit);
  auto* bytes = reinterpret_cast<std::uint8_t*>(levels);
  EncodeUnits(x, n, bytes, [&](const float* in, std::uint8_t* out, std::size_t i) HWY_ATTR {
    StoreUnit(out, [&](std::size_t j) HWY_ATTR {
      return hn::And(hn::BitCast(du, dice(in + j, random + i + j)), hn::Set(du, 0xffu));
    });
  });
}

void Stochastic16(const float* x, std::size_t n, float inverse, int limit,
                  const std::uint16_t* random, std::int16_t* levels) {
  const U32 du;
  const Dice16 dice = MakeDice(inverse, limit);
  auto* halves = reinterpret_cast<std::uint16_t*>(levels);
  EncodeUnits(x, n, halves, [&](const float* in, std::uint16_t* out, std::size_t i) HWY_ATTR {
    StoreUnit(
        out, [&](std::size_t j) HWY_ATTR { return hn::BitCast(du, dice(in + j, random + i + j)); });
  });
}

template <class Level, Into into>
void LevelsDecode(const Level* levels, std::size_t n, float step, float* out) {
  const F32 d;
  const I32 di;
  const hn::Rebind<Level, F32> dn;
  const auto factor = hn::Set(d, step);
  DecodeUnits(levels, n, out, [&](const Level* in, float* to) HWY_ATTR {
    for (std::size_t j = 0; j < kUnit; j += kLanes) {
      const auto level = hn::PromoteTo(di, hn::LoadU(dn, in + j));
      Land<into>(hn::Mul(hn::ConvertTo(d, level), factor), to + j);
    }
  });
}

// --- packing ---
// Eight codes in the bytes of a word become one number by three steps: neighbours join, then pairs,
// then fours. Several words go side by side in a vector.

using U64 = hn::CappedTag<std::uint64_t, 4>;
using VQ = hn::Vec<U64>;
constexpr std::size_t kWords = hn::MaxLanes(U64());
constexpr std::size_t kPackUnit = kWords * 8;  // codes

// The low `bits` of every field of `field` bits.
constexpr std::uint64_t Fields(int field, int bits) {
  std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
  for (int at = field; at < 64; at *= 2) mask |= mask << at;
  return mask;
}

struct Masks {
  std::uint64_t one[8], two[8], four[8], eight[8];  // by width
};

constexpr Masks MakeMasks() {
  Masks masks{};
  for (int w = 1; w < 8; ++w) {
    masks.one[w] = Fields(8, w);
    masks.two[w] = Fields(16, w);
    masks.four[w] = Fields(32, 2 * w);
    masks.eight[w] = Fields(64, 4 * w);
  }
  return masks;
}

constexpr Masks kMasks = MakeMasks();

struct Joints {
  explicit HWY_INLINE Joints(int w)
      : width(w),
        one(hn::Set(U64(), kMasks.one[w])),
        two(hn::Set(U64(), kMasks.two[w])),
        four(hn::Set(U64(), kMasks.four[w])),
        eight(hn::Set(U64(), kMasks.eight[w])) {}

  HWY_INLINE VQ Join(VQ v) const {
    v = hn::And(v, one);
    v = hn::Or(hn::And(v, two), hn::ShiftRightSame(hn::AndNot(two, v), 8 - width));
    v = hn::Or(hn::And(v, four), hn::ShiftRightSame(hn::AndNot(four, v), 16 - 2 * width));
    return hn::Or(hn::And(v, eight), hn::ShiftRightSame(hn::AndNot(eight, v), 32 - 4 * width));
  }

  HWY_INLINE VQ Part(VQ v) const {
    v = hn::Or(hn::And(v, eight), hn::ShiftLeftSame(hn::AndNot(eight, v), 32 - 4 * width));
    v = hn::Or(hn::And(v, four), hn::ShiftLeftSame(hn::AndNot(four, v), 16 - 2 * width));
    v = hn::Or(hn::And(v, two), hn::ShiftLeftSame(hn::AndNot(two, v), 8 - width));
    return hn::And(v, one);
  }

  int width;
  VQ one, two, four, eight;
};

// Whole words are read and written while at least 8 - width bytes lie behind the last one: the
// number of codes that take them.
HWY_INLINE std::size_t CodesBehind(int width) {
  return static_cast<std::size_t>((64 - 8 * width + width - 1) / width);
}

void Pack(const std::uint8_t* codes, std::size_t n, int width, std::uint8_t* out) {
  const U64 d;
  const hn::Repartition<std::uint8_t, U64> d8;
  const Joints joints(width);
  const auto bytes = static_cast<std::size_t>(width);
  // Each word is stored over the zeros of the one before.
  const auto unit = [&](const std::uint8_t* from, std::uint8_t* to) HWY_ATTR {
    alignas(32) std::uint64_t words[kWords];
    hn::Store(joints.Join(hn::BitCast(d, hn::LoadU(d8, from))), d, words);
    for (std::size_t k = 0; k < kWords; ++k) std::memcpy(to + k * bytes, &words[k], 8);
  };
  for (; n >= kPackUnit + CodesBehind(width); n -= kPackUnit, codes += kPackUnit) {
    unit(codes, out);
    out += kWords * bytes;
  }
  // What is left is at most two units and a bit: packed where there is room, then moved.
  std::uint8_t in_pad[4 * kPackUnit] = {};
  std::uint8_t out_pad[4 * kPackUnit];
  std::memcpy(in_pad, codes, n);
  for (std::size_t i = 0; i < n; i += kPackUnit) unit(in_pad + i, out_pad + i / 8 * bytes);
  std::memcpy(out, out_pad, (n * bytes + 7) / 8);
}

void Unpack(const std::uint8_t* in, std::size_t n, int width, std::uint8_t* codes) {
  const U64 d;
  const hn::Repartition<std::uint8_t, U64> d8;
  const Joints joints(width);
  const auto bytes = static_cast<std::size_t>(width);
  const auto unit = [&](const std::uint8_t* from, std::uint8_t* to) HWY_ATTR {
    alignas(32) std::uint64_t words[kWords];
    for (std::size_t k = 0; k < kWords; ++k) std::memcpy(&words[k], from + k * bytes, 8);
    hn::StoreU(hn::BitCast(d8, joints.Part(hn::Load(d, words))), d8, to);
  };
  for (; n >= kPackUnit + CodesBehind(width); n -= kPackUnit, codes += kPackUnit) {
    unit(in, codes);
    in += kWords * bytes;
  }
  std::uint8_t in_pad[4 * kPackUnit] = {};
  std::uint8_t out_pad[4 * kPackUnit];
  std::memcpy(in_pad, in, (n * bytes + 7) / 8);
  for (std::size_t i = 0; i < n; i += kPackUnit) unit(in_pad + i / 8 * bytes, out_pad + i);
  std::memcpy(codes, out_pad, n);
}

void UnpackSigned(const std::uint8_t* in, std::size_t n, int width, std::int8_t* codes) {
  auto* bytes = reinterpret_cast<std::uint8_t*>(codes);
  Unpack(in, n, width, bytes);
  const hn::Repartition<std::uint8_t, U64> d;
  const auto half = hn::Set(d, static_cast<std::uint8_t>(1u << (width - 1)));
  std::size_t i = 0;
  for (; i + kPackUnit <= n; i += kPackUnit)
    hn::StoreU(hn::Sub(hn::Xor(hn::LoadU(d, bytes + i), half), half), d, bytes + i);
  const int h = 1 << (width - 1);
  for (; i < n; ++i) bytes[i] = static_cast<std::uint8_t>((bytes[i] ^ h) - h);
}

template <class Code>
bool Contains(const Code* codes, std::size_t n, Code code) {
  const hn::CappedTag<Code, 32 / sizeof(Code)> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto wanted = hn::Set(d, code);
  auto found = hn::Zero(d);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes)
    found = hn::Or(found, hn::VecFromMask(d, hn::Eq(hn::LoadU(d, codes + i), wanted)));
  if (i < n) {
    Code pad[32 / sizeof(Code)] = {};
    std::memset(pad, code == 0 ? 1 : 0, sizeof pad);
    std::memcpy(pad, codes + i, (n - i) * sizeof(Code));
    found = hn::Or(found, hn::VecFromMask(d, hn::Eq(hn::LoadU(d, pad), wanted)));
  }
  return !hn::AllTrue(d, hn::Eq(found, hn::Zero(d)));
}

void Fill(Kernels& table) {
  table.linear_encode = LinearEncode;
  table.linear_decode = {LinearDecode<Into::overwrite>, LinearDecode<Into::sum>};
  table.stochastic8 = Stochastic8;
  table.stochastic16 = Stochastic16;
  table.levels8 = {LevelsDecode<std::int8_t, Into::overwrite>,
                   LevelsDecode<std::int8_t, Into::sum>};
  table.levels16 = {LevelsDecode<std::int16_t, Into::overwrite>,
                    LevelsDecode<std::int16_t, Into::sum>};
  table.pack = Pack;
  table.unpack = Unpack;
  table.unpack_signed = UnpackSigned;
  table.contains8 = Contains<std::uint8_t>;
  table.contains16 = Contains<std::uint16_t>;
}

}  // namespace
}  // namespace narrowcast::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace narrowcast::kernel {
HWY_EXPORT(Fill);
void simd_levels(Kernels& table) { HWY_DYNAMIC_DISPATCH(Fill)(table); }
}  // namespace narrowcast::kernel
#endif
