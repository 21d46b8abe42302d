// Errors of codecs on known distributions, beside those that papers printed.
#include "study/report/cell_rows.hpp"
#include "study/report/rows.hpp"

namespace narrowcast {
namespace {

void add_bar(Table& bars, const MeanRow& line, const CellGroup& group, std::string_view whose) {
  const std::optional<double> error =
      line.number(whose == "paper" ? "published_relative_percent" : "relative_percent");
  if (error)
    bars.rows.push_back(
        {line.text("distribution"), variant_of(group.cell), std::string(whose), *error});
}

std::vector<Block> blocks(const ReportData& data) {
  Figure bars{
      .id = "codec-errors",
      .title = "Relative error by codec",
      .caption = "Mean of |decoded - value| / |value| on random values of each distribution.",
      .table = {.columns = {text_column("distribution"), text_column("codec"), text_column("from"),
                            number_column("relative error", "%", 2)}},
      .look = {.drawing = Drawing::bars,
               .x = "codec",
               .y = "relative error",
               .series = "from",
               .facets = {"distribution"},
               .first = "paper"}};
  Figure all{
      .id = "codec-errors-all",
      .title = "Every measure",
      .table = {.columns = {text_column("codec"), text_column("distribution"),
                            number_column("bits", "of a value", 2),
                            number_column("relative error", "%", 2), number_column("paper", "%", 2),
                            number_column("MSE"), number_column("paper's MSE"),
                            number_column("MAE"), number_column("SNR", "dB", 1)}}};
  for (const CellGroup* group : done_groups(data, "errors"))
    for (const MeanRow& line : mean_rows(*group, "samples")) {
      add_bar(bars.table, line, *group, "measured");
      add_bar(bars.table, line, *group, "paper");
      Row row{variant_of(group->cell), line.text("distribution")};
      for (const std::string_view name :
           {"bits_per_value", "relative_percent", "published_relative_percent", "mse",
            "published_mse", "mae", "snr_db"})
        row.push_back(value_of(line.number(name)));
      all.table.rows.push_back(std::move(row));
    }
  if (all.table.rows.empty()) return {};
  return {bars, all};
}

}  // namespace

ReportSection codec_errors_section() {
  return {"codec-errors", "Codec errors beside the papers", blocks};
}

}  // namespace narrowcast
