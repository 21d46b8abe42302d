#pragma once

#include <chrono>
#include <fstream>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/train_records.hpp"
#include "run/run.hpp"

namespace narrowcast::cli {

// Where JSON Lines go: a file, standard output ("-"), or nowhere ("").
class RecordFile {
 public:
  enum class Opening { anew, append };
  // Fault::system when it cannot be written.
  RecordFile(const std::string& path, Opening opening, const Console& console);

  bool is_standard_output() const { return path_ == "-"; }
  void write(const std::string& line);  // and flushes, so that a killed run leaves what it did

 private:
  std::string path_;
  std::ofstream file_;
  std::ostream* out_ = nullptr;
};

// Shows a run to whoever watches: a line that moves on a terminal, lines elsewhere, a table in the
// end; and writes its records.
class TrainReport final : public Listener {
 public:
  TrainReport(const Run& run, TrainScene scene, const Console& console, RecordFile& records);

  void started(const Started& started) override;
  void step(const StepRecord& record) override;
  void epoch(const EpochRecord& record) override;
  void saved(const std::filesystem::path& checkpoint, std::uint64_t step) override;
  void finished(const Summary& summary) override;

 private:
  bool talks() const { return !records_.is_standard_output(); }
  void clear_line();
  void print_table() const;
  void print_cost(const Summary& summary) const;

  const Run& run_;
  TrainScene scene_;
  const Console& console_;
  RecordFile& records_;
  Started started_;
  std::vector<EpochRecord> epochs_;
  double smooth_loss_ = 0;
  bool has_line_ = false;
  std::chrono::steady_clock::time_point shown_ = {};
};

}  // namespace narrowcast::cli
