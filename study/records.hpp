#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "study/epoch.hpp"

// What training runs have left behind, read back from their JSON Lines (docs/run.md).
namespace narrowcast {

struct JsonTree;

// The format of records, of runs and of cells. A change that an earlier narrowcast would misread takes
// a new one; a line without it is of format 1.
inline constexpr int kRecordFormat = 1;
inline constexpr std::string_view kFormatKey = "format";
// Fault::wire, naming both, for a line of another format.
void check_format(const JsonTree& line);

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
