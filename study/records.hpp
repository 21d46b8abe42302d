#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

// What training runs have left behind, read back from their JSON Lines (docs/run.md).
namespace narrowcast {

struct EpochPoint {
  double epoch = 0;
  double train_loss = 0;
  std::optional<double> test_error;  // percent
  double images_per_s = 0;
  double step_ms = 0;
  double compute_ms = 0;
  double wait_ms = 0;
  double overlap = 0;
  double wire_bytes = 0;  // in this epoch
  double fp32_bytes = 0;
};

struct RunRecord {
  std::string label;  // the file's name, without its ending
  std::string net;
  std::string data;
  std::string parallel;
  std::string settings;  // TOML
  std::string commit;
  std::int64_t workers = 0;
  std::int64_t seed = 0;
  std::string link;
  std::vector<EpochPoint> epochs;   // after restarts, each once
  std::vector<std::string> faults;  // that it went on after
  std::optional<double> seconds;    // when it has come to its end
  std::string replica_hash;

  double wire_bytes() const;
  double fp32_bytes() const;
  std::optional<double> last_error() const;
  std::optional<double> best_error() const;
};

// Fault::wire for what is no such file, with the line; Fault::system when it cannot be read. A last
// line that was cut off by a crash is passed over.
RunRecord read_run(const std::filesystem::path& file);

}  // namespace narrowcast
