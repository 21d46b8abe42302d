#include "train/networks/mask.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

// Dropout needs a random number for every activation, and a counter-based generator for each would
// cost a hundredth of a training step of the small networks. So Philox gives the seeds of sixteen
// generators xoshiro128++ (Blackman and Vigna, 2019), which have no multiplications and run side by
// side, in loops of fixed length that compilers turn into vector instructions.
namespace narrowcast {
namespace {

constexpr std::size_t kLanes = 16;
constexpr std::size_t kGroup = 2 * kLanes;  // values, of 16 bits each, from one turn

using Words = std::array<std::uint32_t, kLanes>;
using State = std::array<Words, 4>;

State seeded(const Stream& stream) {
  State state;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    const PhiloxBlock words = random_words(stream, lane);
    for (std::size_t word = 0; word < words.size(); ++word) state[word][lane] = words[word];
    state[0][lane] |= 1;  // the one state that never leaves itself is all zeros
  }
  return state;
}

std::uint32_t rotated(std::uint32_t x, int by) { return (x << by) | (x >> (32 - by)); }

struct Coin {
  std::int32_t dropped;  // of 65536
  float kept;
};

void throw_coins(float* out, State& state, const Coin& coin) {
  auto& [a, b, c, d] = state;
  for (std::size_t i = 0; i < kLanes; ++i) {
    const std::uint32_t word = rotated(a[i] + d[i], 7) + a[i];
    const std::uint32_t shifted = b[i] << 9;
    c[i] ^= a[i];
    d[i] ^= b[i];
    b[i] ^= c[i];
    a[i] ^= d[i];
    c[i] ^= shifted;
    d[i] = rotated(d[i], 11);
    out[i] = static_cast<std::int32_t>(word & 0xffff) < coin.dropped ? 0 : coin.kept;
    out[kLanes + i] = static_cast<std::int32_t>(word >> 16) < coin.dropped ? 0 : coin.kept;
  }
}

}  // namespace

void fill_mask(MutableFloats out, double drop, const Stream& stream) {
  const auto dropped = static_cast<std::int32_t>(std::lround(drop * 0x1p16));
  const Coin coin = {.dropped = dropped,
                     .kept = static_cast<float>(0x1p16 / (0x1p16 - static_cast<double>(dropped)))};
  State state = seeded(stream);
  std::array<float, kGroup> group;  // a place of its own: `out` might overlap the state, as far as
                                    // the compiler knows
  for (; !out.empty(); out = out.subspan(std::min(out.size(), kGroup))) {
    throw_coins(group.data(), state, coin);
    std::copy_n(group.begin(), std::min(out.size(), kGroup), out.begin());
  }
}

}  // namespace narrowcast
