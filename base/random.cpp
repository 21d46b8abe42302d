#include "base/random.hpp"

namespace narrowcast {
namespace {

// The finaliser of splitmix64 (Steele et al., 2014): a bijection that spreads every bit.
std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9u;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

std::uint64_t absorb(std::uint64_t state, std::uint64_t word) {
  return mix(state * 0x9e3779b97f4a7c15u + word + 1);
}

std::uint32_t low(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
std::uint32_t high(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }

}  // namespace

Stream stream_of(const Dice& dice) {
  std::uint64_t salt = absorb(0, dice.step);
  salt = absorb(salt, dice.tensor);
  salt = absorb(salt, dice.rank);
  salt = absorb(salt, (std::uint64_t{dice.hop} << 32) | static_cast<std::uint32_t>(dice.stage));
  return {.key = mix(dice.seed), .salt = salt};
}

PhiloxBlock philox(PhiloxBlock counter, std::array<std::uint32_t, 2> key, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    const std::uint64_t a = std::uint64_t{0xd2511f53u} * counter[0];
    const std::uint64_t b = std::uint64_t{0xcd9e8d57u} * counter[2];
    counter = {high(b) ^ counter[1] ^ key[0], low(b), high(a) ^ counter[3] ^ key[1], low(a)};
    key[0] += 0x9e3779b9u;
    key[1] += 0xbb67ae85u;
  }
  return counter;
}

PhiloxBlock random_words(const Stream& stream, std::uint64_t counter) {
  return philox({low(counter), high(counter), low(stream.salt), high(stream.salt)},
                {low(stream.key), high(stream.key)}, kPhiloxRounds);
}

std::uint16_t random16(const Stream& stream, std::uint64_t index) {
  const std::uint64_t group = index / kRandomGroup;
  const std::uint64_t j = index % kRandomGroup;
  const std::uint64_t lane = j % 16 / 2;
  const std::uint32_t word = random_words(stream, group * 8 + lane / 2 + lane % 2 * 4)[j / 16];
  return static_cast<std::uint16_t>(j % 2 == 0 ? word : word >> 16);
}

double uniform(const Stream& stream, std::uint64_t index) {
  const PhiloxBlock random = random_words(stream, index);
  const std::uint64_t bits = (std::uint64_t{random[0]} << 32 | random[1]) >> 12;
  return (static_cast<double>(bits) + 0.5) * 0x1p-52;
}

}  // namespace narrowcast
