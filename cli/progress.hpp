#pragma once

#include <cstddef>
#include <ostream>
#include <string_view>

#include "cli/command.hpp"

namespace narrowcast::cli {

// One line on a terminal that says what is under way, and goes away in the end. Silent elsewhere.
class Progress {
 public:
  Progress(const Console& console, std::size_t steps)
      : out_(console.terminals.err ? &console.err : nullptr), steps_(steps) {}
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void next(std::string_view what) {
    ++step_;
    if (out_ != nullptr)
      *out_ << "\r\x1b[K[" << step_ << "/" << steps_ << "] " << what << std::flush;
  }

  // Before anything else is printed.
  void clear() {
    if (out_ != nullptr) *out_ << "\r\x1b[K" << std::flush;
  }

 private:
  std::ostream* out_;
  std::size_t steps_;
  std::size_t step_ = 0;
};

}  // namespace narrowcast::cli
