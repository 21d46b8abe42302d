#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "study/analysis.hpp"
#include "study/page/page.hpp"

// A report is a list of sections; each is one file and one row in catalogue.cpp.
namespace narrowcast {

struct ReportData {
  const Study& study;
  std::span<const CellRecord> records;
  const Analysis& analysis;

  const CellGroup& group(std::size_t i) const { return analysis.groups[i]; }
};

struct ReportSection {
  std::string_view id;
  std::string_view title;
  std::vector<Block> (*blocks)(const ReportData& data);  // none: there is nothing to say
};

std::span<const ReportSection> report_sections();

// ---- what sections are made of ----

using Row = std::vector<TableValue>;

TableColumn text_column(std::string_view name);
TableColumn verdict_column(std::string_view name);
TableColumn number_column(std::string_view name, std::string_view unit = {},
                          std::optional<int> decimals = {});

// A number with its bounds: three columns.
void add_estimate(std::vector<TableColumn>& columns, const TableColumn& number);
void add_estimate(Row& row, const Estimate& estimate);
void add_estimate(Row& row, const std::optional<Estimate>& estimate);
// An effect with its bounds, its p after Holm's correction, and a word.
void add_contrast(std::vector<TableColumn>& columns, const TableColumn& number);
void add_contrast(Row& row, const std::optional<Contrast>& contrast, std::string_view word);

// Of times: faster, same, slower. Of errors: better, same, worse.
std::string_view speed_word(const std::optional<Contrast>& gain);
std::string_view error_word(const std::optional<Judgement>& judgement);
// "never", "3 of 5 only" where not every seed came there; else as speed_word.
std::string time_word(const TimeToError& time);

std::string source_label(Source source);

// A number that an axis has as text; nothing for what is none. Nothing stays nothing.
TableValue number_value(std::string_view text);
TableValue scaled(const std::optional<double>& number, double factor);

// Groups of a kind that have come to their end.
std::vector<const CellGroup*> done_groups(const ReportData& data, std::string_view kind);
std::vector<const Cell*> cells_of(std::span<const CellGroup* const> groups);

// The mean over the records of a group, of those that have it.
std::optional<double> mean_value(std::span<const CellRecord* const> records, std::string_view name);

// Of Analysis::speed, those with a time that count.
std::vector<const Speed*> timed(const ReportData& data, Source source);

}  // namespace narrowcast
