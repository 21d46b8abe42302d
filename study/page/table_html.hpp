#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "study/page/figure.hpp"

namespace narrowcast {

struct TableView {
  const Table& table;
  const Look& look;               // of a heat map, `table` is pivoted
  std::string_view fold_by = {};  // a column that is not shown
};

// These rows as a table that sorts and scrolls; what lies around it is the caller's.
std::string table_html(const TableView& view, std::string_view caption,
                       std::span<const std::size_t> rows);

}  // namespace narrowcast
