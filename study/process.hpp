#pragma once

#include <chrono>
#include <csignal>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.hpp"

// A command that a cell is measured by, as a process.
namespace narrowcast {

// As long as it lives, SIGINT and SIGTERM end nothing: they wait to be asked for.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  std::optional<int> next() const;      // without waiting
  int fd() const { return fd_.get(); }  // readable when there is one
  const sigset_t& before() const { return before_; }

 private:
  sigset_t before_ = {};
  Descriptor fd_;
};

struct ProcessWish {
  std::vector<std::string> words;  // the program first; looked for in PATH unless it has a slash
  std::filesystem::path output;    // where standard output goes
  std::chrono::milliseconds deadline = std::chrono::hours(12);
};

struct ProcessEnd {
  int code = 0;
  std::optional<int> signal = {};       // that ended it
  std::optional<int> interrupted = {};  // the signal that this process got meanwhile, and passed on
  bool late = false;                    // it was ended at the deadline
  std::string errors = {};              // the last of what it wrote to standard error
  double cpu_seconds = 0;               // of it and its children
  bool failed() const { return code != 0 || signal || interrupted || late; }
};

// Runs it to its end. SIGINT and SIGTERM are passed on to it, and it has time to end by itself; it never
// outlives this process. Fault::system when it cannot be started.
ProcessEnd run_process(const ProcessWish& wish, const StopSignals& signals);

// Seconds that all cores together were at work, for anybody, since the machine was started.
double busy_seconds_of_machine();

}  // namespace narrowcast
