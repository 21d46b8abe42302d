#include "tests/support/inputs.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

namespace narrowcast::test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

template <class ValueOf>
Input input(std::string name, std::size_t count, ValueOf value_of) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = value_of(i);
  return {std::move(name), std::move(values)};
}

float any_finite_bits(const Stream& stream, std::size_t i) {
  const std::uint32_t high = random16(stream, 2 * i);
  const auto bits = high << 16 | random16(stream, 2 * i + 1);
  const float value = std::bit_cast<float>(bits);
  return std::isfinite(value) ? value : std::bit_cast<float>(bits & 0xbfffffffu);
}

}  // namespace

std::vector<float> normal(std::size_t count, std::uint64_t seed) {
  const Stream stream = stream_of({.seed = seed});
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double radius = std::sqrt(-2 * std::log(uniform(stream, 2 * i)));
    const double angle = 2 * std::numbers::pi * uniform(stream, 2 * i + 1);
    values[i] = static_cast<float>(radius * std::cos(angle));
  }
  return values;
}

std::vector<Input> finite_inputs(std::size_t count) {
  const std::vector<float> draws = normal(count, 7);
  const Stream stream = stream_of({.seed = 8});
  const auto is_even = [](std::size_t i) { return i % 2 == 0; };
  return {
      {"normal", draws},
      input("zero", count, [](std::size_t) { return 0.0f; }),
      input("zeros of both signs", count, [&](std::size_t i) { return is_even(i) ? 0.0f : -0.0f; }),
      input("constant", count, [](std::size_t) { return -0.3f; }),
      input("alternating", count, [&](std::size_t i) { return is_even(i) ? 1.0f : -1.0f; }),
      input("subnormal", count, [&](std::size_t i) { return draws[i] * 1e-39f; }),
      input("smallest", count, [&](std::size_t i) { return is_even(i) ? 1.4e-45f : -2.8e-45f; }),
      input("around the smallest normal", count,
            [&](std::size_t i) { return draws[i] * 1.2e-38f; }),
      input("huge", count,
            [&](std::size_t i) { return std::clamp(draws[i], -3.0f, 3.0f) * 1.1e38f; }),
      input("largest", count,
            [&](std::size_t i) {
              const float largest = std::numeric_limits<float>::max();
              return is_even(i) ? largest : -largest;
            }),
      input("a spike", count,
            [&](std::size_t i) { return i == count / 2 ? 1000.0f : draws[i] * 1e-3f; }),
      input("sparse", count, [&](std::size_t i) { return i % 11 == 3 ? draws[i] : 0.0f; }),
      input("negative", count, [&](std::size_t i) { return -std::fabs(draws[i]); }),
      input("many decades", count,
            [&](std::size_t i) {
              const auto decade = static_cast<float>(random16(stream, i) % 60) - 30.0f;
              return draws[i] * std::pow(10.0f, decade);
            }),
      input("any bits", count, [&](std::size_t i) { return any_finite_bits(stream, i); }),
  };
}

std::vector<float> with_specials(std::vector<float> values) {
  const float specials[] = {kNan, kInfinity, -kInfinity, -kNan};
  const std::size_t count = values.size();
  std::size_t next = 0;
  for (const std::size_t place : {count - 1, std::size_t{0}, count / 3, count / 2, count * 2 / 3})
    if (place < count) values[place] = specials[next++ % 4];
  return values;
}

std::vector<Input> any_inputs(const Codec& codec, std::size_t count) {
  std::vector<Input> inputs = finite_inputs(count);
  if (codec.promise().non_finite == NonFinite::refuses_nan) return inputs;
  for (const char* name : {"normal", "any bits"}) {
    const auto plain = std::ranges::find(inputs, name, &Input::name);
    inputs.push_back({plain->name + " with specials", with_specials(plain->values)});
  }
  return inputs;
}

std::vector<std::size_t> awkward_counts(const Codec& codec) {
  std::vector<std::size_t> counts(67);
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = i;
  const std::size_t block = std::max<std::size_t>(codec.promise().block, 64);
  for (const std::size_t blocks : {1, 2, 3})
    for (const std::size_t around : {blocks * block - 1, blocks * block, blocks * block + 1})
      counts.push_back(around);
  counts.insert(counts.end(), {1000, 2 * block + block / 2 + 3});
  std::ranges::sort(counts);
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

}  // namespace narrowcast::test
