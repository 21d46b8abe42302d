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

Records three_codecs() {
  Records records;
  for (int seed = 1; seed <= 5; ++seed) {
    const double luck = 0.01 * (seed % 3);
    records.push_back(trained("fp32", seed, {4 + luck, 2 + luck, 1.2 + luck}));
    records.push_back(trained("good", seed, {4 + luck, 2 + luck, 1.2 + 0.01 * (seed % 2)}));
    records.push_back(trained("crude", seed, {5, 4, 3 + luck + 0.01 * (seed % 2)}));
    records.push_back(trained("slow", seed, {4 + luck, 2 + luck, 1.2 + 0.01 * (seed % 2)}));
  }
  add_timed(records, "fp32", {20, 20.4, 19.8});
  add_timed(records, "good", {10, 10.3, 9.9});
  add_timed(records, "crude", {5, 5.1, 4.9});
  add_timed(records, "slow", {30, 30.4, 29.8});
  return records;
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

const TimeToError& time_of(const Analysis& found, std::string_view kind, std::string_view codec) {
  for (const TimeToError& each : found.times) {
    const Cell& cell = found.groups[each.timing].cell;
    if (cell.kind == kind && cell.at("codec") == codec) return each;
  }
  throw std::runtime_error("no such time");
}

const StudySetting& setting_on(const Analysis& found, std::string_view link) {
  for (const StudySetting& setting : found.answer.settings)
    if (const auto at = setting.axes.find("link"); at != setting.axes.end() && at->second == link)
      return setting;
  throw std::runtime_error("no such setting");
}

}  // namespace narrowcast::test
