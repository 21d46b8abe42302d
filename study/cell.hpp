#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "study/records.hpp"

// A point of a study's matrix, and what came of it.
namespace narrowcast {

// By axis: "net", "data", "parallel", "workers", "transport", "link", "profile", "codec", "plan", "batch",
// "size", "ranks", "model", "seed". An axis that a kind does not have is not there.
using Axes = std::map<std::string, std::string, std::less<>>;

// One thing to measure or to predict.
struct Cell {
  std::string kind;  // of kinds(): "train", "speed", "predict", ...
  Axes axes = {};
  // Besides the axes, by name: settings of the run, what a name of the axes "codec" and "plan" stands for.
  std::map<std::string, std::string> settings = {};

  // Empty where there is no such axis.
  std::string_view at(std::string_view axis) const;
  bool operator==(const Cell&) const = default;
};

// Sixteen digits that depend on all of the cell and on nothing else.
std::string id_of(const Cell& cell);

// "train mnist-mlp, mnist, data, 2 workers, dynamic8, seed 3": for people.
std::string name_of(const Cell& cell);

// Where it was measured.
struct CellMachine {
  std::string name = {};  // that told apart from others, no address
  std::string cpu = {};
  int cores = 0;
  std::uint64_t memory_bytes = 0;
  std::string kernel = {};
  std::map<std::string, std::string> engines = {};  // versions: "torch", "gloo", "openmpi", ...
  bool operator==(const CellMachine&) const = default;
};

// A line of a table that a cell gave: text or numbers by column.
struct CellRow {
  std::map<std::string, std::string> texts = {};
  std::map<std::string, double> numbers = {};
  bool operator==(const CellRow&) const = default;
};

enum class CellState { done, failed };

// A cell and what came of it: one line of JSON.
struct CellRecord {
  std::string study = {};
  Cell cell = {};
  CellState state = CellState::done;
  std::string message = {};  // why it failed: one line
  int tries = 1;
  std::string version = {};
  std::string commit = {};
  CellMachine machine = {};
  std::vector<std::string> commands = {};  // that repeat it, as a shell reads them
  std::string started = {};                // 2026-11-17T22:17:45Z
  double seconds = 0;
  // The part of the machine's cores that others used meanwhile, 0 to 1: above kBusy, its times say little.
  double others = 0;

  // Whatever the kind measures. Of train and speed: "step_ms", "compute_ms", "encode_ms", "wire_ms",
  // "decode_ms", "wait_ms", "overlap", "images_per_s", "wire_bytes" and "fp32_bytes" (of a worker and step),
  // "parameters", "steps_per_epoch"; of train also "best_error", "last_error" (percent), "epochs",
  // "train_seconds". Of predict: "step_ms", "low_ms", "high_ms", the same parts, "wire_bytes", "speedup",
  // "over_fp32", "price" (of a worker and hour). Of transfer: "time_us", "fp32_us", "speedup".
  std::map<std::string, double, std::less<>> values = {};
  std::vector<EpochPoint> epochs = {};  // of train
  std::vector<CellRow> rows = {};       // of kinds that give tables: round-off, errors, paper
  std::string replica_hash = {};        // of train, at the end

  std::optional<double> value(std::string_view name) const;
};
inline constexpr double kBusy = 0.15;

// Predicted from a profile that was not measured for it: any machine says the same, at any time.
bool is_computed(const Cell& cell);
// A calibration is as good as the machine was quiet, too.
bool times_count(const CellRecord& record);

// A line of JSON Lines and back; Fault::wire, one line, for what is none. Cells of the same study that say
// the same have the same id.
std::string to_json(const CellRecord& record);
CellRecord record_of_json(std::string_view line);

}  // namespace narrowcast
