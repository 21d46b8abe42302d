#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/codec_bench.hpp"
#include "codec/distortion.hpp"

namespace narrowcast::bench {

// Size, error and speed of one codec on the same gradient-like values.
struct Comparison {
  CodecTime time;
  Distortion distortion;

  double ratio_to_fp32() const { return 32 / time.bits_per_value; }
};

// One of each kind, from exact to one bit.
std::span<const std::string_view> comparison_specs();

struct ComparisonOptions {
  std::size_t values = 0;
  double seconds = 0;  // for each operation
  std::function<void(std::string_view spec)> before = [](std::string_view) {};
};

std::vector<Comparison> compare_codecs(const ComparisonOptions& options);

}  // namespace narrowcast::bench
