#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "study/cell.hpp"

// A study as its file has it: a matrix of things to measure and to predict (docs/study.md).
namespace narrowcast {

enum class CellOrder { fixed, random };

struct Study {
  std::string name;
  std::string title = {};
  std::string about = {};              // paragraphs that the report begins with
  std::vector<std::string> cuts = {};  // what was left out, and why: the report says so
  std::string baseline = "fp32";       // the codec that others are compared with
  CellOrder order = CellOrder::fixed;
  double tolerance = 0;          // percentage points of test error that count as the same
  std::vector<Cell> cells = {};  // all of them, each once, seeds outermost
};

// Whether cells are to be done, or to be read about: files that they name may be long gone, or elsewhere.
enum class StudyUse { run, read };

// Unknown keys, an empty matrix, values that do not fit and, to run it, cells that their commands would refuse are
// Fault::usage, one line that starts with `origin` and the line number.
Study parse_study(std::string_view toml, std::string_view origin, StudyUse use = StudyUse::run);
Study read_study(const std::filesystem::path& file, StudyUse use);

}  // namespace narrowcast
