#include "tests/study/made_records.hpp"

#include <algorithm>
#include <stdexcept>

namespace narrowcast::test {

CellRecord made_record(std::string kind, std::string_view codec, int seed) {
  CellRecord record;
  record.cell.kind = std::move(kind);
  record.cell.axes = {{"net", "mnist-mlp"}, {"parallel", "data"},
                      {"workers", "2"},     {"transport", "shm"},
                      {"link", "none"},     {"codec", std::string(codec)},
                      {"data", "mnist"},    {"seed", std::to_string(seed)}};
  record.cell.settings["codec"] = codec;
  return record;
}

CellRecord trained(std::string_view codec, int seed, std::vector<double> errors) {
  CellRecord record = made_record("train", codec, seed);
  record.values = {{"steps_per_epoch", 100},
                   {"step_ms", 10},
                   {"last_error", errors.back()},
                   {"best_error", std::ranges::min(errors)}};
  for (std::size_t i = 0; i < errors.size(); ++i) {
    EpochPoint point;
    point.epoch = static_cast<double>(i + 1);
    point.test_error = errors[i];
    record.epochs.push_back(point);
  }
  return record;
}

void add_trained(Records& records, std::string_view codec, const std::vector<double>& errors) {
  for (std::size_t i = 0; i < errors.size(); ++i)
    records.push_back(trained(codec, static_cast<int>(i) + 1, {errors[i]}));
}

CellRecord timed(std::string_view codec, int seed, double step_ms) {
  CellRecord record = made_record("speed", codec, seed);
  record.cell.axes["link"] = "1gbit";
  record.values = {{"step_ms", step_ms}, {"images_per_s", 256e3 / step_ms}};
  return record;
}

void add_timed(Records& records, std::string_view codec, const std::vector<double>& steps) {
  for (std::size_t i = 0; i < steps.size(); ++i)
    records.push_back(timed(codec, static_cast<int>(i) + 1, steps[i]));
}

CellRecord predicted(std::string_view codec, double step_ms, std::pair<double, double> bounds) {
  CellRecord record = made_record("predict", codec, 1);
  record.cell.axes.erase("seed");
  record.cell.axes.erase("data");
  record.cell.axes["link"] = "1gbit";
  record.cell.axes["profile"] = "here";
  record.values = {{"step_ms", step_ms}, {"low_ms", bounds.first}, {"high_ms", bounds.second}};
  return record;
}

Study study_with(double tolerance) { return {.name = "made", .tolerance = tolerance}; }

const CellGroup& group_of(const Analysis& found, std::string_view kind, std::string_view variant) {
  for (const CellGroup& group : found.groups)
    if (group.cell.kind == kind && variant_of(group.cell) == variant) return group;
  throw std::runtime_error("no such group");
}

const Accuracy& accuracy_of(const Analysis& found, std::string_view variant) {
  for (const Accuracy& each : found.accuracy)
    if (variant_of(found.groups[each.group].cell) == variant) return each;
  throw std::runtime_error("no such accuracy");
}

const Speed& speed_of(const Analysis& found, std::string_view kind, std::string_view variant) {
  for (const Speed& each : found.speed) {
    const Cell& cell = found.groups[each.group].cell;
    if (cell.kind == kind && variant_of(cell) == variant) return each;
  }
  throw std::runtime_error("no such speed");
}

}  // namespace narrowcast::test
