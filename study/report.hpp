#pragma once

#include <span>
#include <string>
#include <vector>

#include "study/cell.hpp"
#include "study/study.hpp"

namespace narrowcast {

struct ReportFile {
  std::string name;  // without a folder
  std::string content;
};

// What a study found: report.html, which needs no other file, report.md, and the data of each figure as
// <figure>.csv. The same records give the same bytes. Several records of one cell: the last that is done counts.
std::vector<ReportFile> write_report(const Study& study, std::span<const CellRecord> records);

}  // namespace narrowcast
