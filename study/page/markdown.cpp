#include <fmt/core.h>

#include "study/page/page.hpp"

namespace narrowcast {
namespace {

// Longer tables are in their CSV alone.
constexpr std::size_t kMostRows = 60;

// One line that says what it says, whatever signs are in it.
std::string plain(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n' || c == '\r') {
      out += ' ';
      continue;
    }
    if (std::string_view("\\|<>*_`[]#").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string code(const std::string& text) {
  if (text.find_first_of("`\r\n") != std::string::npos) return plain(text);
  std::string out = "`";
  for (const char c : text) out += c == '|' ? "\\|" : std::string(1, c);
  return text.empty() ? std::string() : out + "`";
}

std::string number_text(const Table& table, const std::vector<TableValue>& row, std::size_t i) {
  const NumberText text(table, i);
  std::string out = plain(text(std::get<double>(row[i])));
  if (i + 2 >= row.size() || !is_bound(table.columns[i + 1])) return out;
  const auto* low = std::get_if<double>(&row[i + 1]);
  const auto* high = std::get_if<double>(&row[i + 2]);
  if (low != nullptr && high != nullptr)
    out += fmt::format(" ({} to {})", plain(text(*low)), plain(text(*high)));
  return out;
}

std::string cell(const Table& table, const std::vector<TableValue>& row, std::size_t i) {
  if (std::holds_alternative<double>(row[i])) return number_text(table, row, i);
  const auto* text = std::get_if<std::string>(&row[i]);
  if (text == nullptr) return {};
  return table.columns[i].kind == ColumnKind::code ? code(*text) : plain(*text);
}

std::string markdown_of(const Table& table) {
  std::string head = "|";
  std::string rule = "|";
  for (const TableColumn& column : table.columns) {
    if (is_bound(column)) continue;
    head += fmt::format(" {} |", plain(csv_heading(column)));
    rule += column.kind == ColumnKind::number ? "---:|" : "---|";
  }
  std::string out = head + "\n" + rule + "\n";
  for (const auto& row : table.rows) {
    out += "|";
    for (std::size_t i = 0; i < row.size(); ++i)
      if (!is_bound(table.columns[i])) out += fmt::format(" {} |", cell(table, row, i));
    out += "\n";
  }
  return out + "\n";
}

std::string markdown_of(const Figure& figure) {
  std::string out = fmt::format("### {}\n\n", plain(figure.title));
  if (!figure.caption.empty()) out += plain(figure.caption) + "\n\n";
  const Table shown = figure.look.drawing == Drawing::heat ? pivoted(figure) : figure.table;
  if (shown.rows.size() > kMostRows)
    return out +
           fmt::format("{} rows: [{}.csv]({}.csv)\n\n", shown.rows.size(), figure.id, figure.id);
  return out + markdown_of(shown) + fmt::format("[{}.csv]({}.csv)\n\n", figure.id, figure.id);
}

std::string markdown_of(const Text& text) {
  return text.role == TextRole::lead ? fmt::format("**{}**\n\n", plain(text.text))
                                     : plain(text.text) + "\n\n";
}

std::string markdown_of(const Bullets& bullets) {
  std::string out;
  for (const std::string& item : bullets.items) out += fmt::format("- {}\n", plain(item));
  return out + "\n";
}

std::string markdown_of(const Fold& fold) {
  std::string out = plain(fold.summary) + "\n\n";
  for (const std::string& paragraph : fold.paragraphs) out += plain(paragraph) + "\n\n";
  if (fold.code.empty()) return out;
  // Indented, because nothing in it can end that.
  std::string line = "    ";
  for (const char c : fold.code) line += c == '\n' ? "\n    " : std::string(1, c);
  return out + line + "\n\n";
}

}  // namespace

std::string markdown_of(const Page& page) {
  std::string out = fmt::format("# {}\n\n", plain(page.title));
  if (!page.subtitle.empty()) out += plain(page.subtitle) + "\n\n";
  for (const PageSection& section : page.sections) {
    out += fmt::format("## {}\n\n", plain(section.title));
    for (const Block& block : section.blocks)
      out += std::visit([](const auto& each) { return markdown_of(each); }, block);
  }
  if (!page.end.empty()) out += plain(page.end) + "\n";
  return out;
}

}  // namespace narrowcast
