#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "run/run.hpp"

namespace narrowcast::test {

// A file of that text, which goes when it does.
class ScratchFile {
 public:
  explicit ScratchFile(std::string_view text, std::string_view name = "run.toml");
  ~ScratchFile();
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

std::vector<Setting> settings_in(std::string_view toml);
Run run_of(std::string_view toml);

// One setting each, "key=value", as the command line gives them.
Run run_with(std::vector<std::string> settings);

// The message of the Fault::usage that such a run must end in, which is one line.
std::string refusal(std::vector<std::string> settings);
// The same of a file; it begins with "run.toml".
std::string file_refusal(std::string_view toml);

}  // namespace narrowcast::test
