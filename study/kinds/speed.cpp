// speed: so many steps of training without tests; medians of them after the first ones, which warm up.
#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.hpp"
#include "plan/values.hpp"
#include "study/kinds/rows.hpp"
#include "study/kinds/words.hpp"

namespace narrowcast {
namespace {

constexpr std::string_view kSteps = "100";
constexpr std::size_t kWarmUp = 5;  // a fifth of the steps

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
  resolve_run(run_settings(with_steps(cell)));
}

std::vector<CellCommand> commands(const Cell& cell, const CellPlace&) {
  std::vector<std::string> words = {"train"};
  for (auto&& part : {run_words(with_steps(cell)), rank_words(cell)})
    words.insert(words.end(), part.begin(), part.end());
  words.insert(words.end(), {"--no-test", "--json", "-"});
  return {{.words = words, .launcher = launcher_of(cell)}};
}

double quantile(std::vector<double>& values, double part) {
  std::ranges::sort(values);
  const long place = std::lround(part * static_cast<double>(values.size() - 1));
  return values[static_cast<std::size_t>(place)];
}

void read(const std::string& printed, CellRecord& record) {
  std::vector<JsonTree> steps;
  double fp32_bytes = 0;
  double batch = 0;
  for (JsonTree& line : lines_of(printed)) {
    const JsonTree* event = line.find("event");
    require(event != nullptr, Fault::wire, "it printed a line without \"event\"");
    if (event->text == "config") {
      take_numbers(line, kOfConfig, record);
      batch = number_in(line, "batch") * number_in(line, "workers");
    }
    if (event->text == "summary")
      fp32_bytes = number_in(line, "fp32_bytes") / number_in(line, "steps");
    if (event->text == "step") steps.push_back(std::move(line));
  }
  require(steps.size() > kWarmUp, Fault::wire, "it printed too few steps");
  steps.erase(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(
                                                 std::max(kWarmUp - 1, steps.size() / kWarmUp)));
  for (const std::string_view key : kMedians) {
    std::vector<double> values;
    for (const JsonTree& step : steps) values.push_back(number_in(step, key));
    record.values[std::string(key)] = quantile(values, 0.5);
    if (key == "step_ms") {
      record.values["step_low_ms"] = quantile(values, 0.25);
      record.values["step_high_ms"] = quantile(values, 0.75);
    }
  }
  record.values["fp32_bytes"] = fp32_bytes;
  const bool divides_images = record.cell.at("parallel") != "model";
  const double images = divides_images ? batch : batch / count_at(record.cell, "workers");
  record.values["images_per_s"] = 1e3 * images / record.values["step_ms"];
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
