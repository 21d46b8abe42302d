#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"
#include "tests/support/bytes_in_files.hpp"
#include "tests/support/temporary_folder.hpp"

namespace narrowcast::cli::test {

struct Outcome {
  int code = 0;
  std::string out;
  std::string err;
};

// Runs the program within this process.
Outcome run_command(const std::vector<std::string>& words, const std::string& input = "",
                    const Terminals& terminals = {});

// One line that starts with the program's name, and nothing on standard output.
void expect_refusal(const Outcome& outcome, int code);

std::string bytes_of(const std::vector<float>& values);
std::vector<float> floats_of(const std::string& bytes);

std::vector<std::string> lines_of(const std::string& text);

using narrowcast::test::contents;
using narrowcast::test::TemporaryFolder;
using narrowcast::test::write_contents;

}  // namespace narrowcast::cli::test
