#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "data/packing/layout.hpp"

namespace narrowcast::packing {

struct Entry {
  std::filesystem::path file;
  Label label = 0;
};

// What a folder of class folders has, in an order that depends on names alone.
struct Survey {
  std::vector<std::string> classes;
  std::vector<Entry> train;
  std::vector<Entry> test;
};

// Fault::usage for a folder that has another layout.
Survey survey(const std::filesystem::path& folder);

}  // namespace narrowcast::packing
