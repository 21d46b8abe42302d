// train: a network until its last epoch, tested after each. What it learns depends on the seed and not on
// transport, link or load: one such cell serves all of them.
#include <array>

#include "base/error.hpp"
#include "study/kinds/rows.hpp"
#include "study/kinds/words.hpp"

namespace narrowcast {
namespace {

constexpr std::array<std::string_view, 10> kOfSummary{
    "best_error", "last_error", "epochs",    "step_ms", "compute_ms",
    "encode_ms",  "wire_ms",    "decode_ms", "wait_ms", "overlap"};

void check(const Cell& cell) {
  check_ranks(cell);
  require(checked_run(cell).test, Fault::usage,
          "a part of kind train is there for its errors: kind speed has no tests");
}

std::vector<CellCommand> commands(const Cell& cell, const CellPlace&) {
  return {train_command(cell, {"--json", "-"})};
}

// Of all epochs, as step_ms is: each has as many images.
double mean_pace(std::span<const EpochPoint> epochs) {
  double seconds_an_image = 0;
  for (const EpochPoint& epoch : epochs) seconds_an_image += 1 / epoch.images_per_s;
  return static_cast<double>(epochs.size()) / seconds_an_image;
}

void take_summary(const JsonTree& line, CellRecord& record) {
  take_numbers(line, kOfSummary, record);
  const double steps = number_in(line, "steps");
  record.values["train_seconds"] = number_in(line, "seconds");
  record.values["wire_bytes"] = number_in(line, "wire_bytes") / steps;
  record.values["fp32_bytes"] = number_in(line, "fp32_bytes") / steps;
  if (const JsonTree* hash = line.find("replica_hash")) record.replica_hash = hash->text;
}

void read(const std::string& printed, CellRecord& record) {
  bool ended = false;
  for (const JsonTree& line : lines_of(printed)) {
    const std::string& event = event_of(line);
    if (event == "config") take_config(line, record);
    if (event == "epoch") add_epoch(record.epochs, epoch_of_json(line));
    if (event == "summary") {
      take_summary(line, record);
      ended = true;
    }
  }
  require(ended && !record.epochs.empty(), Fault::wire, "it printed no summary of its epochs");
  record.values["images_per_s"] = mean_pace(record.epochs);
}

}  // namespace

Kind train_kind() {
  return {.name = "train",
          .summary = "train to the last epoch and test after each",
          .axes = kRunAxes,
          .settings = kRunSettings,
          .check = check,
          .commands = commands,
          .read = read};
}

}  // namespace narrowcast
