#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "study/cell.hpp"

// What can be measured or predicted. A kind exists when it has a row in catalogue.cpp; each is one file.
namespace narrowcast {

// An axis that a kind has. What a study does not name has the usual value; "" is needed, "-" may be missing.
struct KindAxis {
  std::string_view name;
  std::string_view usual;
};

// One start of this program.
struct CellCommand {
  std::vector<std::string> words;          // without the program's own name
  std::vector<std::string> launcher = {};  // in front of it
  std::string makes = {};                  // a file: while it is there, the command is not needed
};

// Where a cell keeps what it needs while it is measured.
struct CellPlace {
  std::string profiles;  // a folder of calibrations, which cells share
};

struct Kind {
  std::string_view name;
  std::string_view summary;
  std::span<const KindAxis> axes;
  // Of settings besides run settings; "*": any setting of a run.
  std::span<const std::string_view> settings;
  // Fault::usage, without an origin, for cells that would be refused.
  void (*check)(const Cell& cell);
  // In this order; the last one prints JSON Lines.
  std::vector<CellCommand> (*commands)(const Cell& cell, const CellPlace& place);
  // From what the last one printed. Fault::wire for what is something else.
  void (*read)(const std::string& printed, CellRecord& record);
};

std::span<const Kind> kinds();
const Kind& kind_of(std::string_view name);  // Fault::usage lists the names

}  // namespace narrowcast
