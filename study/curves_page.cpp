#include <fmt/core.h>

#include "study/curves.hpp"
#include "study/page/page.hpp"

namespace narrowcast {
namespace {

using Runs = std::span<const RunRecord>;

// All epochs of all runs, of which each chart shows a column.
Table epochs_table(Runs runs) {
  Table table{.columns = {{.name = "run"},
                          {.name = "epoch", .kind = ColumnKind::number},
                          {.name = "sent", .kind = ColumnKind::number, .unit = "MB of a worker"},
                          {.name = "test error", .kind = ColumnKind::number, .unit = "%"},
                          {.name = "training loss", .kind = ColumnKind::number}}};
  for (const RunRecord& run : runs) {
    double sent = 0;
    for (const EpochPoint& point : run.epochs) {
      sent += point.wire_bytes;
      table.rows.push_back({run.label, point.epoch, sent / 1e6, value_of(point.test_error),
                            value_of(point.train_loss)});
    }
  }
  return table;
}

struct Chart {
  std::string_view id;
  std::string_view title;
  std::string_view x;
  std::string_view y;
};

Figure curve(const Table& epochs, const Chart& chart) {
  Figure figure{.id = std::string(chart.id), .title = std::string(chart.title)};
  for (const std::string_view name : {std::string_view("run"), chart.x, chart.y})
    figure.table.columns.push_back(epochs.columns[epochs.column(name)]);
  for (const auto& row : epochs.rows)
    if (const TableValue& y = row[epochs.column(chart.y)];
        !std::holds_alternative<std::monostate>(y))
      figure.table.rows.push_back({row.front(), row[epochs.column(chart.x)], y});
  figure.look = {.drawing = Drawing::line,
                 .x = std::string(chart.x),
                 .y = std::string(chart.y),
                 .series = "run"};
  return figure;
}

std::vector<Block> curves(Runs runs) {
  const Table epochs = epochs_table(runs);
  return {curve(epochs, {"error", "Test error by epoch", "epoch", "test error"}),
          curve(epochs, {"error-by-bytes", "The same by what has travelled", "sent", "test error"}),
          curve(epochs, {"loss", "Training loss by epoch", "epoch", "training loss"})};
}

Figure costs(Runs runs) {
  constexpr ColumnKind kNumber = ColumnKind::number;
  Figure figure{.id = "runs",
                .title = "Every run",
                .table = {.columns = {{.name = "run"},
                                      {.name = "last error", .kind = kNumber, .unit = "%"},
                                      {.name = "best error", .kind = kNumber, .unit = "%"},
                                      {.name = "sent by a worker", .kind = kNumber, .unit = "MB"},
                                      {.name = "in fp32", .kind = kNumber, .unit = "MB"},
                                      {.name = "saved", .kind = kNumber, .unit = "times"},
                                      {.name = "speed", .kind = kNumber, .unit = "images/s"},
                                      {.name = "step", .kind = kNumber, .unit = "ms"},
                                      {.name = "waiting", .kind = kNumber, .unit = "ms"},
                                      {.name = "replicas", .kind = ColumnKind::code}}},
                .showing = Showing::open};
  for (const RunRecord& run : runs) {
    const double sent = run.wire_bytes();
    const EpochPoint last = run.epochs.empty() ? EpochPoint{} : run.epochs.back();
    figure.table.rows.push_back(
        {run.label, value_of(run.last_error()), value_of(run.best_error()), sent / 1e6,
         run.fp32_bytes() / 1e6,
         value_of(sent > 0 ? std::optional(run.fp32_bytes() / sent) : std::nullopt),
         last.images_per_s, last.step_ms, last.wait_ms, run.replica_hash});
  }
  return figure;
}

std::vector<Block> settings(Runs runs) {
  std::vector<Block> folds;
  for (const RunRecord& run : runs) {
    Fold fold{.summary = fmt::format("{}: {} on {}, {} workers, seed {}, commit {}", run.label,
                                     run.net, run.data, run.workers, run.seed, run.commit),
              .code = run.settings};
    for (const std::string& fault : run.faults)
      fold.paragraphs.push_back(fmt::format("went on after: {}", fault));
    folds.emplace_back(std::move(fold));
  }
  return folds;
}

}  // namespace

std::string curves_page(Runs runs, std::string_view title) {
  return html_of({.title = std::string(title),
                  .sections = {{"curves", "Curves", curves(runs)},
                               {"costs", "What it took", {costs(runs)}},
                               {"settings", "How it was run", settings(runs)}}});
}

}  // namespace narrowcast
