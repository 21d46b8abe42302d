#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "cli/command.hpp"

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

std::string contents(const std::filesystem::path& path);

// A folder of its own for each test, gone afterwards.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  std::size_t files() const;

 private:
  std::filesystem::path path_;
};

}  // namespace narrowcast::cli::test
