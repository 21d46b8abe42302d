#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace narrowcast {

// A step that was predicted; milliseconds.
struct PredictionPoint {
  std::string codec;
  int workers = 0;
  double step = 0;
  double low = 0;
  double high = 0;
  double compute = 0;
  double wait = 0;
  double straggling = 0;
  double speedup = 0;
  double over_fp32 = 0;
  double megabytes = 0;
  std::optional<double> break_even = {};  // bytes a second of the links
};

// A page of its own: scaling curves, parts of a step, and all figures. `source` says what they were
// predicted from.
std::string prediction_page(std::span<const PredictionPoint> points, std::string_view title,
                            std::string_view source);

}  // namespace narrowcast
