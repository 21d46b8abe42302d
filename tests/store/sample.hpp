#pragma once

#include <numeric>
#include <string>
#include <vector>

#include "store/store.hpp"

namespace narrowcast::test {

inline Array bytes_array(std::string name, std::size_t count) {
  Array array{std::move(name), Dtype::u8, {static_cast<std::int64_t>(count)}, {}};
  for (std::size_t i = 0; i < count; ++i) array.bytes.push_back(static_cast<std::byte>(i * 7));
  return array;
}

inline Array numbers_array(std::string name, const std::vector<std::int64_t>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {std::move(name),
          Dtype::i64,
          {static_cast<std::int64_t>(values.size())},
          {bytes.begin(), bytes.end()}};
}

// Every type, in an order that alignment does not like; nothing, one value, and a strange name.
inline Snapshot sample_snapshot() {
  std::vector<float> weights(6);
  std::iota(weights.begin(), weights.end(), -2.5F);
  return {.about = {{"step", "42"}, {"plan", "codec = \"dynamic8\"\n\xc3\xbc"}, {"empty", ""}},
          .arrays = {bytes_array("random", 5), floats_array("layer.weight", {2, 3}, weights),
                     floats_array("scalar", {}, std::vector<float>{7.25F}),
                     numbers_array("steps", {1, -2, std::int64_t{1} << 62}),
                     floats_array("none", {0, 4}, {}), bytes_array("a \"b\"\n\xe2\x82\xac", 3)}};
}

}  // namespace narrowcast::test
