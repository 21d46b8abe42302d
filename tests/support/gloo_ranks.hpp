#pragma once

#include <filesystem>
#include <string>

#include "tests/support/ranks.hpp"

namespace narrowcast::test {

// A folder of its own that goes when it does.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

bool has_gloo();

// Ranks over TCP within one process, which meet in a folder.
Connect meet_gloo(int ranks, std::chrono::milliseconds timeout);

}  // namespace narrowcast::test
