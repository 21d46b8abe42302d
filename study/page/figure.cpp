#include "study/page/figure.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include "base/error.hpp"

namespace narrowcast {
namespace {

std::string text_in(const TableValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* number = std::get_if<double>(&value)) return fmt::format("{}", *number);
  return {};
}

std::vector<double> numbers_in(const Table& table, std::size_t column) {
  std::vector<double> numbers;
  for (const auto& row : table.rows)
    if (const auto* number = std::get_if<double>(&row[column])) numbers.push_back(*number);
  return numbers;
}

bool is_number(const std::string& text) {
  double number = 0;
  const char* first = text.data() + (text.starts_with('+') ? 1 : 0);
  const auto [end, error] = std::from_chars(first, text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

// Spreadsheets carry out what begins like a formula, and take an apostrophe for a sign that it is text.
std::string harmless(const std::string& text) {
  const bool like_a_formula =
      text.size() > 1 && std::string_view("=+-@\t\r").find(text[0]) != std::string_view::npos;
  return like_a_formula && !is_number(text) ? "'" + text : text;
}

std::string quoted(const std::string& from) {
  std::string text = harmless(from);
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

std::size_t place_in(std::vector<std::string>& names, const std::string& name) {
  const auto found = std::ranges::find(names, name);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  names.push_back(name);
  return names.size() - 1;
}

}  // namespace

TableValue value_of(const std::optional<double>& number) {
  if (!number || !std::isfinite(*number)) return std::monostate();
  return *number;
}

bool is_bound(const TableColumn& column) {
  return column.kind == ColumnKind::low || column.kind == ColumnKind::high;
}

std::size_t Table::column(std::string_view name) const {
  const auto found = std::ranges::find(columns, name, &TableColumn::name);
  if (found == columns.end())
    throw Error(Fault::usage, fmt::format("a table has no column '{}'", name));
  return static_cast<std::size_t>(found - columns.begin());
}

std::string label_of(const Table& table, std::size_t row, std::span<const std::size_t> columns) {
  std::string label;
  for (const std::size_t column : columns) {
    const TableValue& value = table.rows[row][column];
    const std::string part = text_in(value);
    if (part.empty()) continue;
    if (!label.empty()) label += " \u00b7 ";
    if (std::holds_alternative<double>(value)) label += table.columns[column].name + ' ';
    label += part;
  }
  return label;
}

std::vector<Facet> facets_of(const Figure& figure) {
  std::vector<std::size_t> columns;
  for (const std::string& name : figure.look.facets) columns.push_back(figure.table.column(name));
  std::vector<std::string> labels;
  std::vector<Facet> facets;
  for (std::size_t row = 0; row < figure.table.rows.size(); ++row) {
    const std::string label = label_of(figure.table, row, columns);
    const std::size_t place = place_in(labels, label);
    if (place == facets.size()) facets.push_back({.label = label});
    facets[place].rows.push_back(row);
  }
  return facets;
}

std::vector<Facet> drawn_facets(const Figure& figure) {
  std::vector<std::size_t> columns;
  if (!figure.look.y.empty()) columns.push_back(figure.table.column(figure.look.y));
  for (const Stack& stack : figure.look.stacks)
    for (const std::string& name : stack.columns) columns.push_back(figure.table.column(name));
  const auto has_value = [&](std::size_t row) {
    return std::ranges::any_of(columns, [&](std::size_t column) {
      return std::holds_alternative<double>(figure.table.rows[row][column]);
    });
  };
  std::vector<Facet> facets = facets_of(figure);
  std::erase_if(facets,
                [&](const Facet& facet) { return std::ranges::none_of(facet.rows, has_value); });
  return facets;
}

Table pivoted(const Figure& figure) {
  const Table& from = figure.table;
  const std::size_t series = from.column(figure.look.series);
  const std::size_t value = from.column(figure.look.y);
  Table to;
  for (const std::string& name : figure.look.facets)
    to.columns.push_back(from.columns[from.column(name)]);
  std::vector<std::string> names;
  for (const auto& row : from.rows) place_in(names, text_in(row[series]));
  for (const std::string& name : names)
    to.columns.push_back({.name = name,
                          .kind = ColumnKind::number,
                          .unit = {},
                          .decimals = from.columns[value].decimals});
  for (const Facet& facet : facets_of(figure)) {
    auto& line = to.rows.emplace_back(to.columns.size());
    for (std::size_t i = 0; i < figure.look.facets.size(); ++i)
      line[i] = from.rows[facet.rows.front()][from.column(figure.look.facets[i])];
    for (const std::size_t row : facet.rows)
      line[figure.look.facets.size() + place_in(names, text_in(from.rows[row][series]))] =
          from.rows[row][value];
  }
  return to;
}

NumberText::NumberText(const Table& table, std::size_t column) {
  std::vector<double> numbers = numbers_in(table, column);
  for (double& number : numbers) number = std::abs(number);
  std::erase(numbers, 0.0);
  part_of_one_ = std::ranges::all_of(numbers_in(table, column),
                                     [](double number) { return number >= 0 && number <= 1; });
  if (const std::optional<int> wanted = table.columns[column].decimals) {
    decimals_ = *wanted;
    return;
  }
  if (numbers.empty()) return;
  std::ranges::sort(numbers);
  tiny_or_huge_ = numbers.front() < 1e-4 || numbers.back() >= 1e7;
  if (std::ranges::all_of(numbers, [](double number) { return number == std::round(number); }))
    return;
  const double middle = numbers[numbers.size() / 2];
  decimals_ = std::clamp(2 - static_cast<int>(std::floor(std::log10(middle))), 0, 5);
}

std::string NumberText::operator()(double number) const {
  if (tiny_or_huge_ && number != 0) return fmt::format("{:.3g}", number);
  std::string text = fmt::format("{:.{}f}", number, decimals_);
  if (text.find_first_not_of("-0.") != std::string::npos || number == 0) return text;
  if (part_of_one_ && number > 0)
    return fmt::format("<{:.{}f}", std::pow(10, -decimals_), decimals_);
  return text.substr(text[0] == '-' ? 1 : 0);  // what rounds to zero has no sign
}

std::string csv_heading(const TableColumn& column) {
  return column.unit.empty() ? column.name : fmt::format("{} ({})", column.name, column.unit);
}

std::string csv_of(const Table& table) {
  std::string out;
  for (std::size_t i = 0; i < table.columns.size(); ++i)
    out += (i == 0 ? "" : ",") + quoted(csv_heading(table.columns[i]));
  std::string end;
  for (const TableConstant& constant : table.constants) {
    out += "," + quoted(constant.name);
    end += "," + quoted(constant.value);
  }
  out += "\r\n";
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i)
      out += (i == 0 ? "" : ",") + quoted(text_in(row[i]));
    out += end + "\r\n";
  }
  return out;
}

}  // namespace narrowcast
