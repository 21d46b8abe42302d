#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

// A table with a title, and how it is drawn. Pages, Markdown and CSV are all made from these.
namespace narrowcast {

// Nothing, a number, or text.
using TableValue = std::variant<std::monostate, double, std::string>;
TableValue value_of(const std::optional<double>& number);  // nothing for what is not finite, too

enum class ColumnKind {
  text,
  number,
  low,  // and `high`: bounds of the number to the left; people read all three in one place
  high,
  verdict,  // a word that stands out: better, same, no, ...
  code      // for a shell or a machine to read
};

struct TableColumn {
  std::string name;
  ColumnKind kind = ColumnKind::text;
  std::string unit = {};
  std::optional<int> decimals = {};  // of numbers; else some three digits
  bool is_key = false;               // tells rows apart: a narrow page has all of these in one
};

bool is_bound(const TableColumn& column);

// The same in all rows: people read it in the caption, files have it as a last column.
struct TableConstant {
  std::string name;
  std::string value;
};

struct Table {
  std::vector<TableColumn> columns = {};
  std::vector<std::vector<TableValue>> rows = {};  // as wide as `columns`
  std::vector<TableConstant> constants = {};

  std::size_t column(std::string_view name) const;  // which there must be
};

enum class Drawing {
  table,    // no chart
  line,     // with bands
  bars,     // to the right, one for each row, with whiskers
  stacked,  // bars of parts; those of one `stack` on top of each other
  dots,     // as bars, but not from zero
  scatter,  // with the line where both are equal
  heat      // a coloured table
};

enum class AxisScale { linear, logarithmic };

// Of a bar: the columns that lie on top of each other, from the ground up.
struct Stack {
  std::vector<std::string> columns = {};
};

// Columns by name.
struct Look {
  Drawing drawing = Drawing::table;
  std::string x = {};       // line, scatter: numbers; else what bars, dots and rows are called
  std::string y = {};       // low and high that follow it become bands and whiskers
  std::string series = {};  // what tells lines, and bars of one label, apart
  std::vector<std::string> facets = {};  // a chart for each combination that there is
  std::vector<Stack> stacks = {};        // of `stacked`, instead of y
  AxisScale x_scale = AxisScale::linear;
  AxisScale y_scale = AxisScale::linear;
  std::optional<double> mark = {};  // a value of y to compare with, as 1 of ratios
  std::string first = {};           // of series: drawn in the colour of the text
};

enum class Showing { open, folded };  // of the table below a chart

struct Figure {
  std::string id;  // letters, digits and '-': also the name of its CSV
  std::string title;
  std::string caption = {};
  Table table = {};
  Look look = {};
  Showing showing = Showing::folded;
  std::string fold_by = {};  // a column: rows with equal values are in a fold of their own
};

// "alexnet · workers 2": what a row has in these columns.
std::string label_of(const Table& table, std::size_t row, std::span<const std::size_t> columns);

// Combinations of the facets' values, in the order of rows.
struct Facet {
  std::string label;
  std::vector<std::size_t> rows = {};
};
std::vector<Facet> facets_of(const Figure& figure);
// Those of which there is something to draw.
std::vector<Facet> drawn_facets(const Figure& figure);

// A row for each combination of all columns but those of series and value, a column for each value of
// series: what a heat map shows.
Table pivoted(const Figure& figure);

// As people read it, in its column.
class NumberText {
 public:
  NumberText(const Table& table, std::size_t column);
  std::string operator()(double number) const;

 private:
  int decimals_ = 0;
  bool tiny_or_huge_ = false;
  bool part_of_one_ = false;  // as probabilities are: too small for its decimals is no zero
};

std::string csv_of(const Table& table);              // RFC 4180; numbers with all their digits
std::string csv_heading(const TableColumn& column);  // "step (ms)"

}  // namespace narrowcast
