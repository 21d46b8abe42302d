#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "study/curves.hpp"

namespace narrowcast {
namespace {

constexpr int kWidth = 60;
constexpr int kHeight = 12;

std::optional<double> value_of(const EpochPoint& point, Measure measure) {
  const std::optional<double> value =
      measure == Measure::test_error ? point.test_error : std::optional(point.train_loss);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

struct Frame {
  double low = 0;
  double high = 0;
  double last_epoch = 1;
  bool empty = true;

  int column(double epoch) const {
    return last_epoch <= 1
               ? 0
               : static_cast<int>(std::lround((epoch - 1) / (last_epoch - 1) * (kWidth - 1)));
  }
  int row(double value) const {
    const double span = std::max(high - low, 1e-12);
    return std::clamp(static_cast<int>(std::lround((high - value) / span * (kHeight - 1))), 0,
                      kHeight - 1);
  }
};

Frame frame_of(std::span<const RunRecord> runs, Measure measure) {
  Frame frame;
  for (const RunRecord& run : runs)
    for (const EpochPoint& point : run.epochs) {
      const auto value = value_of(point, measure);
      if (!value) continue;
      frame.low = frame.empty ? *value : std::min(frame.low, *value);
      frame.high = frame.empty ? *value : std::max(frame.high, *value);
      frame.last_epoch = std::max(frame.last_epoch, point.epoch);
      frame.empty = false;
    }
  return frame;
}

}  // namespace

std::string curves_text(std::span<const RunRecord> runs, Measure measure) {
  const Frame frame = frame_of(runs, measure);
  if (frame.empty) return "no epochs to show\n";
  std::vector<std::string> canvas(kHeight, std::string(kWidth, ' '));
  for (std::size_t i = 0; i < runs.size(); ++i)
    for (const EpochPoint& point : runs[i].epochs)
      if (const auto value = value_of(point, measure)) {
        char& cell = canvas[frame.row(*value)][frame.column(point.epoch)];
        // Where runs meet, nobody hides the others.
        cell = cell == ' ' ? static_cast<char>('a' + i % 26) : '*';
      }
  std::string text =
      measure == Measure::test_error ? "test error, %, by epoch\n" : "training loss, by epoch\n";
  for (int row = 0; row < kHeight; ++row) {
    const double value = frame.high - (frame.high - frame.low) * row / (kHeight - 1);
    const bool labelled = row == 0 || row == kHeight - 1 || row == kHeight / 2;
    text += labelled ? fmt::format("{:8.3g} |", value) : "         |";
    text += canvas[row].substr(0, canvas[row].find_last_not_of(' ') + 1) + "\n";
  }
  text += "         +" + std::string(kWidth, '-') + "\n";
  text += fmt::format("          1{:>{}}\n", frame.last_epoch, kWidth - 1);
  for (std::size_t i = 0; i < runs.size(); ++i)
    text += fmt::format("          {}: {}\n", static_cast<char>('a' + i % 26), runs[i].label);
  if (std::ranges::any_of(
          canvas, [](const std::string& row) { return row.find('*') != std::string::npos; }))
    text += "          *: several\n";
  return text;
}

}  // namespace narrowcast
