#include <fmt/core.h>

#include <array>

#include "base/json.hpp"
#include "study/page/page.hpp"
#include "study/page/table_html.hpp"

namespace narrowcast {
namespace {

// More charts than these do not stand beside each other: one is chosen.
constexpr std::size_t kMostFacets = 6;

// Tables without a chart are open up to here.
constexpr std::size_t kMostOpen = 24;

constexpr std::array<std::string_view, 7> kDrawings{"table", "line",    "bars", "stacked",
                                                    "dots",  "scatter", "heat"};
std::vector<std::size_t> all_rows(const Table& table) {
  std::vector<std::size_t> rows(table.rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = i;
  return rows;
}

std::string in_folds(const Figure& figure) {
  Figure by = figure;
  by.look.facets = {figure.fold_by};
  std::string out;
  for (const Facet& fold : facets_of(by))
    out +=
        fmt::format("<details class=\"data\"><summary>{} ({})</summary>\n{}</details>\n",
                    escaped(fold.label), fold.rows.size(),
                    table_html({figure.table, figure.look, figure.fold_by}, fold.label, fold.rows));
  return out;
}

std::string table_of(const Figure& figure) {
  if (!figure.fold_by.empty()) return in_folds(figure);
  const Table shown = figure.look.drawing == Drawing::heat ? pivoted(figure) : figure.table;
  std::string table = table_html({shown, figure.look}, figure.title, all_rows(shown));
  const bool alone = figure.look.drawing == Drawing::table && figure.table.rows.size() <= kMostOpen;
  const bool open =
      figure.showing == Showing::open || figure.look.drawing == Drawing::heat || alone;
  if (open) return table;
  return fmt::format("<details class=\"data\"><summary>Table: {} row{}</summary>\n{}</details>\n",
                     shown.rows.size(), shown.rows.size() == 1 ? "" : "s", table);
}

// On paper nothing can be unfolded: what stands there instead of a table that is all of its figure.
std::string unprinted(const Figure& figure, std::string_view shown, CsvFiles csv) {
  if (!shown.starts_with("<details")) return {};
  return fmt::format("<p class=\"unprinted\">{} row{}{}.</p>\n", figure.table.rows.size(),
                     figure.table.rows.size() == 1 ? "" : "s",
                     csv == CsvFiles::beside ? fmt::format(" in {}.csv", figure.id)
                                             : std::string(" that are not printed"));
}

std::string plot(std::string_view label, std::size_t facet) {
  return fmt::format(
      "<div class=\"plot\"><canvas role=\"img\" aria-label=\"{}\" "
      "data-facet=\"{}\"></canvas></div>\n",
      escaped(label), facet);
}

std::string charts(const Figure& figure) {
  if (figure.look.drawing == Drawing::table || figure.look.drawing == Drawing::heat) return {};
  const std::vector<Facet> facets = drawn_facets(figure);
  if (facets.empty()) return {};
  if (facets.size() > kMostFacets) {
    std::string out = "<p class=\"pick\"><label>Shown <select>";
    for (std::size_t i = 0; i < facets.size(); ++i)
      out += fmt::format("<option value=\"{}\">{}</option>", i, escaped(facets[i].label));
    return out + "</select></label></p>\n" + plot(figure.title, 0);
  }
  std::string out = fmt::format("<div class=\"facets{}\">\n", facets.size() == 1 ? " one" : "");
  for (std::size_t i = 0; i < facets.size(); ++i)
    out +=
        fmt::format("<div class=\"facet\">{}{}</div>\n",
                    facets[i].label.empty() ? std::string()
                                            : fmt::format("<h4>{}</h4>", escaped(facets[i].label)),
                    plot(figure.title + ": " + facets[i].label, i));
  return out + "</div>\n";
}

JsonValue column_json(const Table& table, const std::string& name) {
  return name.empty() ? JsonValue(nullptr) : JsonValue(table.column(name));
}

JsonValue columns_json(const Table& table) {
  std::vector<JsonValue> columns;
  for (const TableColumn& column : table.columns)
    columns.push_back(json_object({{"name", column.name}, {"unit", column.unit}}));
  return json_array(columns);
}

JsonValue stacks_json(const Figure& figure) {
  std::vector<JsonValue> stacks;
  for (const Stack& stack : figure.look.stacks) {
    std::vector<JsonValue> columns;
    for (const std::string& name : stack.columns) columns.emplace_back(figure.table.column(name));
    stacks.push_back(json_array(columns));
  }
  return json_array(stacks);
}

JsonValue facets_json(const Figure& figure) {
  std::vector<JsonValue> facets;
  for (const Facet& facet : drawn_facets(figure))
    facets.push_back(json_array({facet.rows.begin(), facet.rows.end()}));
  return json_array(facets);
}

bool has_bounds(const Figure& figure) {
  if (figure.look.y.empty()) return false;
  const std::size_t y = figure.table.column(figure.look.y);
  return y + 2 < figure.table.columns.size() && is_bound(figure.table.columns[y + 1]);
}

// What the script draws from. No text in it can end the element that it stands in.
std::string spec_of(const Figure& figure) {
  const Look& look = figure.look;
  const std::string json =
      json_object({{"draw", kDrawings[static_cast<std::size_t>(look.drawing)]},
                   {"x", column_json(figure.table, look.x)},
                   {"y", column_json(figure.table, look.y)},
                   {"bounds", has_bounds(figure)},
                   {"series", column_json(figure.table, look.series)},
                   {"stacks", stacks_json(figure)},
                   {"xlog", look.x_scale == AxisScale::logarithmic},
                   {"ylog", look.y_scale == AxisScale::logarithmic},
                   {"mark", look.mark ? JsonValue(*look.mark) : JsonValue(nullptr)},
                   {"first", look.first},
                   {"columns", columns_json(figure.table)},
                   {"facets", facets_json(figure)},
                   {"csv", csv_of(figure.table)}})
          .text();
  std::string safe;
  for (const char c : json) safe += c == '<' ? "\\u003c" : std::string(1, c);
  return fmt::format("<script type=\"application/json\">{}</script>\n", safe);
}

}  // namespace

std::string html_of(const Figure& figure, CsvFiles csv) {
  const std::string link = csv == CsvFiles::beside
                               ? fmt::format("<a href=\"{0}.csv\">{0}.csv</a> ", figure.id)
                               : std::string();
  const std::string shown = charts(figure) + table_of(figure);
  return fmt::format(
      "<figure id=\"figure-{}\">\n<h3>{}</h3>\n{}{}{}<p class=\"csv\">{}<button type=\"button\" "
      "class=\"copy\">Copy as CSV</button></p>\n{}</figure>\n",
      figure.id, escaped(figure.title),
      figure.caption.empty()
          ? std::string()
          : fmt::format("<p class=\"caption\">{}</p>\n", escaped(figure.caption)),
      shown, unprinted(figure, shown, csv), link, spec_of(figure));
}

}  // namespace narrowcast
