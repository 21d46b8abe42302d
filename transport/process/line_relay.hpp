#pragma once

#include <string>

#include "base/descriptor.hpp"

namespace narrowcast {

// Passes on what comes through a pipe, whole lines at a time, each with a prefix.
class LineRelay {
 public:
  LineRelay(Descriptor from, int to, std::string prefix);

  int fd() const { return from_.get(); }
  bool is_open() const { return from_.is_open(); }
  // Passes on what is there, without waiting for more; closes at the end of the pipe.
  void pull();
  // Passes on what is there, also a last line without its end, and closes.
  void finish();

 private:
  void pass_on();

  Descriptor from_;
  int to_;
  std::string prefix_;
  std::string text_;  // that came and was not passed on yet
};

}  // namespace narrowcast
