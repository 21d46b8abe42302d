// What an epoch costs where somebody rents the machines.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <set>

#include "study/report/rows.hpp"
#include "study/report/settings.hpp"

namespace narrowcast {
namespace {

// Whose cells say how many images an epoch has, and would be priced.
std::string without_price(const ReportData& data) {
  std::set<std::string> profiles;
  for (const Speed* speed : timed(data, Source::predicted)) {
    const CellGroup& group = data.group(speed->group);
    if (group.cell.settings.contains("images") && !group.quiet.front()->value("price"))
      profiles.emplace(group.at("profile"));
  }
  if (profiles.empty()) return {};
  return fmt::format("Not here, because their profiles have no price: {}. ",
                     fmt::join(profiles, ", "));
}

std::vector<Block> blocks(const ReportData& data) {
  const std::vector<EpochCost>& costs = data.analysis.cost;
  if (costs.empty()) return {};
  std::vector<const Cell*> cells;
  for (const EpochCost& cost : costs) cells.push_back(&data.group(cost.group).cell);
  const std::vector<Axes> settings = settings_of(cells);
  const SettingColumns columns(settings, "workers");
  Figure figure{
      .id = "cost",
      .title = "Price of an epoch, predicted",
      .caption =
          "US dollars of all workers together, by the list price in the machines' profile. " +
          without_price(data) + columns.common(),
      .look = {.drawing = Drawing::line,
               .x = "workers",
               .y = "price",
               .series = "codec",
               .facets = columns.names(),
               .x_scale = AxisScale::logarithmic,
               .first = data.study.baseline}};
  columns.add_to(figure.table);
  auto& heads = figure.table.columns;
  heads.push_back(text_column("codec"));
  heads.push_back(number_column("workers", "", 0));
  heads.push_back(number_column("price", "USD an epoch"));
  heads.push_back(number_column("of " + data.study.baseline, "%", 0));
  heads.push_back(number_column("epoch", "s"));
  for (std::size_t i = 0; i < costs.size(); ++i) {
    Row& row = figure.table.rows.emplace_back();
    columns.add_to(row, settings[i]);
    row.emplace_back(variant_of(*cells[i]));
    row.push_back(number_value(cells[i]->at("workers")));
    row.emplace_back(costs[i].price);
    row.push_back(scaled(costs[i].over_baseline, 100));
    row.emplace_back(costs[i].seconds);
  }
  return {figure};
}

}  // namespace

ReportSection cost_section() { return {"cost", "Cost", blocks}; }

}  // namespace narrowcast
