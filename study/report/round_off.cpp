// What sums in few bits lose on their way over many ranks.
#include <fmt/core.h>

#include <array>

#include "study/report/cell_rows.hpp"
#include "study/report/rows.hpp"
#include "study/report/settings.hpp"

namespace narrowcast {
namespace {

struct Way {
  std::string_view name;
  std::string_view value;
};
constexpr std::array kWays{Way{"rounded after each addition", "format_percent"},
                           Way{"with Kahan's compensation", "kahan_percent"},
                           Way{"rounded when it travels", "fp32_percent"},
                           Way{"paper, after each addition", "published_percent"}};

std::string algorithm(const MeanRow& row) {
  const double group = row.number("group").value_or(0);
  return group == 0 ? row.text("algorithm") : fmt::format("groups of {}", group);
}

std::vector<Block> blocks(const ReportData& data) {
  const std::vector<const CellGroup*> groups = done_groups(data, "round-off");
  if (groups.empty()) return {};
  const std::vector<Axes> settings = settings_of(cells_of(groups));
  const SettingColumns columns(settings);
  Figure figure{
      .id = "round-off",
      .title = "Relative error of sums",
      .caption = "Mean relative error of an all-reduce whose partial sums are in few bits. " +
                 columns.common(),
      .look = {.drawing = Drawing::bars, .x = "algorithm", .y = "round-off", .series = "sums"}};
  columns.add_to(figure.table);
  figure.table.columns.push_back(text_column("codec"));
  figure.table.columns.push_back(text_column("algorithm"));
  figure.table.columns.push_back(text_column("sums"));
  figure.table.columns.push_back(number_column("round-off", "%", 2));
  figure.look.facets = columns.names();
  figure.look.facets.emplace_back("codec");
  for (std::size_t i = 0; i < groups.size(); ++i)
    for (const MeanRow& line : mean_rows(*groups[i], "group"))
      for (const Way& way : kWays) {
        const std::optional<double> percent = line.number(way.value);
        if (!percent) continue;
        Row& row = figure.table.rows.emplace_back();
        columns.add_to(row, settings[i]);
        row.emplace_back(variant_of(groups[i]->cell));
        row.emplace_back(algorithm(line));
        row.emplace_back(std::string(way.name));
        row.emplace_back(*percent);
      }
  if (figure.table.rows.empty()) return {};
  return {figure};
}

}  // namespace

ReportSection round_off_section() { return {"round-off", "Round-off by algorithm", blocks}; }

}  // namespace narrowcast
