#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "study/report/section.hpp"

// Tables that cells brought, row by row.
namespace narrowcast {

// Rows of the records of a group that have the same texts and the same keys, taken together.
struct MeanRow {
  CellRow first;
  std::vector<const CellRow*> rows = {};

  std::string text(std::string_view name) const;              // empty where there is none
  std::optional<double> number(std::string_view name) const;  // the mean of those that have it
};

// In the order of the first record.
std::vector<MeanRow> mean_rows(const CellGroup& group, std::string_view key);

}  // namespace narrowcast
