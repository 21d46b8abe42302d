// What was studied, and what was left out and why, as the study's file says it.
#include <algorithm>

#include "study/report/rows.hpp"

namespace narrowcast {
namespace {

// Empty lines are between paragraphs.
std::vector<std::string> paragraphs(const std::string& text) {
  std::vector<std::string> all;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find("\n\n", begin), text.size());
    if (text.find_first_not_of(" \n", begin) < end) all.push_back(text.substr(begin, end - begin));
    begin = end + 2;
  }
  return all;
}

std::vector<Block> blocks(const ReportData& data) {
  std::vector<Block> all;
  for (const std::string& paragraph : paragraphs(data.study.about))
    all.emplace_back(Text{paragraph});
  if (!data.study.cuts.empty()) {
    all.emplace_back(Text{"Left out, and why:"});
    all.emplace_back(Bullets{data.study.cuts});
  }
  return all;
}

}  // namespace

ReportSection about_section() { return {"cuts", "What was studied, and what was cut", blocks}; }

}  // namespace narrowcast
