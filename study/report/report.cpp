#include "study/report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "base/version.hpp"
#include "study/report/section.hpp"

namespace narrowcast {
namespace {

std::string subtitle(const Study& study, std::span<const CellRecord> records) {
  std::set<std::string> done;
  std::set<std::string> known;
  std::string first;
  std::string last;
  for (const CellRecord& record : records) {
    known.insert(id_of(record.cell));
    if (record.state == CellState::done) done.insert(id_of(record.cell));
    if (first.empty() || record.started < first) first = record.started;
    last = std::max(last, record.started);
  }
  std::string text = fmt::format("Study {}: {} of {} cells done", study.name, done.size(),
                                 std::max(study.cells.size(), known.size()));
  if (known.size() > done.size()) text += fmt::format(", {} failed", known.size() - done.size());
  const std::string begin = first.substr(0, 10);
  const std::string end = last.substr(0, 10);
  if (!begin.empty()) text += "; " + (begin == end ? begin : fmt::format("{} to {}", begin, end));
  return text + ".";
}

Page page_of(const ReportData& data) {
  Page page{.title = data.study.title.empty() ? data.study.name : data.study.title,
            .subtitle = subtitle(data.study, data.records),
            .csv = CsvFiles::beside};
  std::string missing;
  for (const ReportSection& section : report_sections()) {
    std::vector<Block> blocks = section.blocks(data);
    if (blocks.empty())
      missing += (missing.empty() ? "" : "; ") + std::string(section.title);
    else
      page.sections.push_back(
          {std::string(section.id), std::string(section.title), std::move(blocks)});
  }
  if (!missing.empty()) page.end = fmt::format("Left out for want of data: {}. ", missing);
  page.end += fmt::format("Made by narrowcast {} ({}).", version(), commit());
  return page;
}

}  // namespace

std::vector<ReportFile> write_report(const Study& study, std::span<const CellRecord> records) {
  const Analysis analysis = analyse(records, study);
  const Page page = page_of({study, records, analysis});
  std::vector<ReportFile> files = {{"report.html", html_of(page)},
                                   {"report.md", markdown_of(page)}};
  for (const PageSection& section : page.sections)
    for (const Block& block : section.blocks)
      if (const auto* figure = std::get_if<Figure>(&block))
        files.push_back({figure->id + ".csv", csv_of(figure->table)});
  return files;
}

}  // namespace narrowcast
