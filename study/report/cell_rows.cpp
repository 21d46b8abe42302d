#include "study/report/cell_rows.hpp"

#include <algorithm>

namespace narrowcast {
namespace {

bool is_same(const CellRow& a, const CellRow& b, std::string_view key) {
  const auto number = [&](const CellRow& row) {
    const auto found = row.numbers.find(std::string(key));
    return found == row.numbers.end() ? 0 : found->second;
  };
  return a.texts == b.texts && number(a) == number(b);
}

}  // namespace

std::string MeanRow::text(std::string_view name) const {
  const auto found = first.texts.find(std::string(name));
  return found == first.texts.end() ? std::string() : found->second;
}

std::optional<double> MeanRow::number(std::string_view name) const {
  double sum = 0;
  std::size_t count = 0;
  for (const CellRow* row : rows)
    if (const auto found = row->numbers.find(std::string(name)); found != row->numbers.end()) {
      sum += found->second;
      ++count;
    }
  if (count == 0) return std::nullopt;
  return sum / static_cast<double>(count);
}

std::vector<MeanRow> mean_rows(const CellGroup& group, std::string_view key) {
  std::vector<MeanRow> all;
  for (const CellRecord* record : group.done)
    for (const CellRow& row : record->rows) {
      const auto same = std::ranges::find_if(
          all, [&](const MeanRow& each) { return is_same(each.first, row, key); });
      if (same == all.end())
        all.push_back({.first = row, .rows = {&row}});
      else
        same->rows.push_back(&row);
    }
  return all;
}

}  // namespace narrowcast
