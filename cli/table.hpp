#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace narrowcast::cli {

enum class Align { left, right };

struct Column {
  std::string_view title;
  Align align = Align::right;
};

// Text in columns, each as wide as its widest cell.
class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // As many cells as there are columns.
  void add(std::vector<std::string> cells);

  // Lines end without blanks; cells may hold UTF-8 and colours.
  std::string text() const;
  std::string markdown() const;

 private:
  std::vector<std::size_t> widths() const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace narrowcast::cli
