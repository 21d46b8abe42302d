// What the papers' own models give, beside what the papers print.
#include "study/report/cell_rows.hpp"
#include "study/report/rows.hpp"

namespace narrowcast {
namespace {

std::vector<Block> blocks(const ReportData& data) {
  Figure figure{
      .id = "papers",
      .title = "The papers' models",
      .caption = "Computed as the paper does, and with its errata mended.",
      .table = {.columns = {text_column("model"), text_column("quantity"), text_column("setting"),
                            number_column("bits"), number_column("batch"), number_column("printed"),
                            number_column("computed"), number_column("corrected")}}};
  for (const CellGroup* group : done_groups(data, "paper"))
    for (const CellRecord* record : group->done)
      for (const CellRow& line : record->rows) {
        const MeanRow one{.first = line, .rows = {&line}};
        Row row{one.text("model"), one.text("quantity"), one.text("setting")};
        for (const std::string_view name : {"bits", "batch", "printed", "computed", "corrected"})
          row.push_back(value_of(one.number(name)));
        figure.table.rows.push_back(std::move(row));
      }
  if (figure.table.rows.empty()) return {};
  return {figure};
}

}  // namespace

ReportSection papers_section() { return {"papers", "The papers' own models", blocks}; }

}  // namespace narrowcast
