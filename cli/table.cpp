#include "cli/table.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace narrowcast::cli {
namespace {

// Characters that take a place on the screen: neither escape sequences ("\x1b[...m") nor the
// continuation bytes of UTF-8.
std::size_t width_of(std::string_view cell) {
  std::size_t width = 0;
  for (std::size_t i = 0; i < cell.size(); ++i) {
    if (cell[i] == '\x1b')
      i = std::min(cell.find('m', i), cell.size());
    else if ((static_cast<unsigned char>(cell[i]) & 0xc0) != 0x80)
      ++width;
  }
  return width;
}

std::string padded(const std::string& cell, std::size_t width, Align align) {
  const std::string blanks(width - width_of(cell), ' ');
  return align == Align::left ? cell + blanks : blanks + cell;
}

void end_line(std::string& text) {
  text.erase(text.find_last_not_of(' ') + 1);
  text += '\n';
}

}  // namespace

void Table::add(std::vector<std::string> cells) {
  require(cells.size() == columns_.size(), Fault::usage, "a table row has the wrong length");
  rows_.push_back(std::move(cells));
}

std::vector<std::size_t> Table::widths() const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    widths.push_back(width_of(columns_[i].title));
    for (const auto& row : rows_) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  return widths;
}

std::string Table::text() const {
  const std::vector<std::size_t> width = widths();
  std::string text;
  for (std::size_t i = 0; i < columns_.size(); ++i)
    text +=
        (i == 0 ? "" : "  ") + padded(std::string(columns_[i].title), width[i], columns_[i].align);
  end_line(text);
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < columns_.size(); ++i)
      text += (i == 0 ? "" : "  ") + padded(row[i], width[i], columns_[i].align);
    end_line(text);
  }
  return text;
}

std::string Table::markdown() const {
  std::string text = "|";
  for (const Column& column : columns_) text.append(" ").append(column.title).append(" |");
  text += "\n|";
  for (const Column& column : columns_) text += column.align == Align::left ? "---|" : "---:|";
  for (const auto& row : rows_) {
    text += "\n|";
    for (const std::string& cell : row) {
      text += ' ';
      for (const char c : cell) {
        if (c == '|') text += '\\';
        text += c;
      }
      text += " |";
    }
  }
  return text + "\n";
}

}  // namespace narrowcast::cli
