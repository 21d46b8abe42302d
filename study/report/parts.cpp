// What a step spends its time on.
#include <array>

#include "study/report/rows.hpp"
#include "study/report/settings.hpp"

namespace narrowcast {
namespace {

struct Part {
  std::string_view name;
  std::string_view value;
};
constexpr std::array kParts{Part{"compute", "compute_ms"}, Part{"wait", "wait_ms"},
                            Part{"encode", "encode_ms"}, Part{"wire", "wire_ms"},
                            Part{"decode", "decode_ms"}};

std::vector<const CellGroup*> groups_of(const ReportData& data) {
  std::vector<const CellGroup*> groups;
  for (const Speed* speed : timed(data, Source::measured)) {
    const CellGroup& group = data.group(speed->group);
    if (mean_value(group.quiet, "compute_ms")) groups.push_back(&group);
  }
  return groups;
}

std::vector<Block> blocks(const ReportData& data) {
  const std::vector<const CellGroup*> groups = groups_of(data);
  if (groups.empty()) return {};
  const std::vector<Axes> settings = settings_of(cells_of(groups));
  const SettingColumns columns(settings);
  Figure figure{.id = "parts",
                .title = "What a step spends its time on",
                .caption =
                    "Upper bar: the step itself, which computes and then waits for what has not "
                    "arrived. Lower bar: "
                    "encoding, wire and decoding, which run beside computing; only what does not "
                    "hide there is "
                    "waited for. " +
                    columns.common(),
                .look = {.drawing = Drawing::stacked,
                         .x = "codec",
                         .facets = columns.names(),
                         .stacks = {{{"compute", "wait"}}, {{"encode", "wire", "decode"}}}}};
  columns.add_to(figure.table);
  figure.table.columns.push_back(text_column("codec"));
  figure.table.columns.push_back(number_column("step", "ms"));
  for (const Part& part : kParts) figure.table.columns.push_back(number_column(part.name, "ms"));
  figure.table.columns.push_back(number_column("overlap", "%", 0));
  figure.table.columns.push_back(number_column("sent by a worker", "MB"));
  for (std::size_t i = 0; i < groups.size(); ++i) {
    Row& row = figure.table.rows.emplace_back();
    const auto mean = [&](std::string_view name) { return mean_value(groups[i]->quiet, name); };
    columns.add_to(row, settings[i]);
    row.emplace_back(variant_of(groups[i]->cell));
    row.push_back(value_of(mean("step_ms")));
    for (const Part& part : kParts) row.push_back(value_of(mean(part.value)));
    row.push_back(scaled(mean("overlap"), 100));
    row.push_back(scaled(mean("wire_bytes"), 1e-6));
  }
  return {figure};
}

}  // namespace

ReportSection parts_section() { return {"parts", "Parts of a step", blocks}; }

}  // namespace narrowcast
