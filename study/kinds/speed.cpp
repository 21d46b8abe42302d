// speed: so many steps of training without tests; medians of them after the first ones, which warm up.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.hpp"
#include "study/kinds/rows.hpp"
#include "study/kinds/words.hpp"

namespace narrowcast {
namespace {

constexpr std::string_view kSteps = "100";
constexpr std::size_t kFewestSteps = 6;
constexpr std::size_t kFewestOfWarmUp = 4;
constexpr std::size_t kShareOfWarmUp = 5;  // a fifth of the steps

constexpr std::array<std::string_view, 8> kMedians{"step_ms", "compute_ms", "encode_ms",
                                                   "wire_ms", "decode_ms",  "wait_ms",
                                                   "overlap", "wire_bytes"};

Cell with_steps(Cell cell) {
  cell.settings.try_emplace("steps", kSteps);
  cell.settings.try_emplace("epochs", "1000000");  // steps end it
  return cell;
}

void check(const Cell& cell) {
  check_ranks(cell);
  const Run run = checked_run(with_steps(cell));
  if (run.steps != 0 && run.steps < kFewestSteps)  // 0: epochs end it
    throw Error(Fault::usage,
                fmt::format("steps takes {} and more: the first ones warm up", kFewestSteps));
}

std::vector<CellCommand> commands(const Cell& cell, const CellPlace&) {
  return {train_command(with_steps(cell), {"--no-test", "--json", "-"})};
}

double quantile(std::vector<double>& values, double part) {
  std::ranges::sort(values);
  const long place = std::lround(part * static_cast<double>(values.size() - 1));
  return values[static_cast<std::size_t>(place)];
}

void take_medians(const std::vector<JsonTree>& steps, CellRecord& record) {
  for (const std::string_view key : kMedians) {
    std::vector<double> values;
    for (const JsonTree& step : steps) values.push_back(number_in(step, key));
    record.values[std::string(key)] = quantile(values, 0.5);
    if (key == "step_ms") {
      record.values["step_low_ms"] = quantile(values, 0.25);
      record.values["step_high_ms"] = quantile(values, 0.75);
    }
  }
}

void read(const std::string& printed, CellRecord& record) {
  std::vector<JsonTree> steps;
  double fp32_bytes = 0;
  for (JsonTree& line : lines_of(printed)) {
    const std::string& event = event_of(line);
    if (event == "config") take_config(line, record);
    if (event == "summary") fp32_bytes = number_in(line, "fp32_bytes") / number_in(line, "steps");
    if (event == "step") steps.push_back(std::move(line));
  }
  require(steps.size() >= kFewestSteps, Fault::wire, "it printed too few steps");
  const std::size_t warm_up = std::max(kFewestOfWarmUp, steps.size() / kShareOfWarmUp);
  steps.erase(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(warm_up));
  take_medians(steps, record);
  record.values["fp32_bytes"] = fp32_bytes;
  // Every step has as many images: what the last one says, at the pace of the median.
  const JsonTree& last = steps.back();
  record.values["images_per_s"] =
      number_in(last, "images_per_s") * number_in(last, "step_ms") / record.values["step_ms"];
}

}  // namespace

Kind speed_kind() {
  return {.name = "speed",
          .summary = "time steps of training: medians, without tests",
          .axes = kRunAxes,
          .settings = kRunSettings,
          .check = check,
          .commands = commands,
          .read = read};
}

}  // namespace narrowcast
