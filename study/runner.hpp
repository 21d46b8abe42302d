#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "study/folder.hpp"
#include "study/study.hpp"

// Carries a study out, cell by cell; each is a process of this program.
namespace narrowcast {

struct RunOptions {
  // By its path: what /proc calls oneself is a launcher in the hands of a launcher.
  std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  std::vector<std::string> only = {};                           // kinds; empty: all
  std::chrono::milliseconds deadline = std::chrono::hours(12);  // of one command
  std::size_t most = 0;                                         // cells to do now; 0: all
  CellMachine machine = {};
};

// Whether it is of one of these kinds; of any when there are none.
bool is_of(std::span<const std::string> kinds, const Cell& cell);

// Told of everything, for people.
struct RunNews {
  std::size_t done = 0;  // of all, with those that were there
  std::size_t all = 0;
  std::optional<double> seconds_left = {};
};
class RunWatcher {
 public:
  virtual ~RunWatcher() = default;
  virtual void begins(const Cell& cell, const RunNews& news) = 0;
  virtual void ended(const CellRecord& record, const RunNews& news) = 0;
};

struct RunResult {
  std::size_t done = 0;                 // now
  std::size_t failed = 0;               // of them
  std::size_t before = 0;               // were there already
  std::size_t failed_before = 0;        // of them
  std::size_t elsewhere = 0;            // left, or others are at work on them
  std::optional<int> interrupted = {};  // by that signal
};

// Does what the folder has no record of and nobody else is at work on. A cell that fails is tried once more, and
// then recorded as failed. Fault::system when the folder cannot be written to.
RunResult run_study(const Study& study, StudyFolder& folder, const RunOptions& options,
                    RunWatcher& watcher);

// What can be known before, without a trace: a data set that is not there, a trainer or transport that is not built, a
// launcher or host that does not answer, a folder that cannot be or has no room. Fault::usage or Fault::system, one
// line.
void check_surroundings(std::span<const Cell> cells, const std::filesystem::path& folder);
// The last of these alone.
void check_room(const std::filesystem::path& folder);

}  // namespace narrowcast
