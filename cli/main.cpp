#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <ostream>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/stdio.hpp"

namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

narrowcast::cli::Terminals terminals() {
  const bool out = isatty(STDOUT_FILENO) != 0;
  return {.in = isatty(STDIN_FILENO) != 0,
          .out = out,
          .err = isatty(STDERR_FILENO) != 0,
          .colour = out && environment("NO_COLOR").empty() && environment("TERM") != "dumb"};
}

}  // namespace

int main(int count, char** words) {
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe becomes a failed write, see cli/stdio.hpp
  std::signal(SIGXFSZ, SIG_IGN);  // and so does a file beyond the limit (ulimit -f)
  std::ios::sync_with_stdio(false);
  std::cin.tie(nullptr);
  narrowcast::cli::OutputBuffer buffer(STDOUT_FILENO);
  std::ostream out(&buffer);
  out.exceptions(std::ios::badbit);
  return narrowcast::cli::run(std::vector<std::string>(words + 1, words + count),
                              {.in = std::cin,
                               .out = out,
                               .err = std::cerr,
                               .terminals = terminals(),
                               .target = environment("NARROWCAST_TARGET")});
}
