// Whether the error is the same, with intervals, verdicts, and an analysis of variance as D16 did it.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include "study/report/rows.hpp"
#include "study/report/settings.hpp"

namespace narrowcast {
namespace {

std::string caption(const ReportData& data, const SettingColumns& columns) {
  const double tolerance = data.study.tolerance;
  return fmt::format(
      "Percentage points of test error after the last epoch more than {} with the same seed has: "
      "left of the dashed "
      "line is better. {} Whiskers and ranges are 95 % intervals, p is corrected for all "
      "comparisons of last errors (Holm); the verdict on best errors for all of best errors. {}",
      data.study.baseline,
      tolerance > 0 ? fmt::format("The same is an interval within {} points.", tolerance)
                    : "Without a tolerance, only equal weights are the same.",
      columns.common());
}

// Nothing for none.
TableValue count_value(std::size_t count) {
  return value_of(count == 0 ? std::nullopt : std::optional(static_cast<double>(count)));
}

Figure errors_figure(const ReportData& data) {
  std::vector<const Cell*> cells;
  for (const Accuracy& accuracy : data.analysis.accuracy)
    cells.push_back(&data.group(accuracy.group).cell);
  const std::vector<Axes> settings = settings_of(cells);
  const SettingColumns columns(settings);
  Figure figure{.id = "accuracy",
                .title = "Test error beside " + data.study.baseline,
                .caption = caption(data, columns),
                .look = {.drawing = Drawing::dots,
                         .x = "codec",
                         .y = "difference",
                         .facets = columns.names(),
                         .mark = 0,
                         .first = data.study.baseline},
                .showing = Showing::open};
  columns.add_to(figure.table);
  auto& heads = figure.table.columns;
  heads.push_back(text_column("codec"));
  heads.back().is_key = true;
  // What people look for first is what a phone shows.
  add_contrast(heads, number_column("difference", "points", 2));
  heads.push_back(verdict_column("of best error"));
  heads.push_back(number_column("seeds"));
  add_estimate(heads, number_column("last error", "%", 2));
  add_estimate(heads, number_column("best error", "%", 2));
  heads.push_back(number_column("failed", "seeds"));
  heads.push_back(number_column("not a number", "seeds"));
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Accuracy& accuracy = data.analysis.accuracy[i];
    Row& row = figure.table.rows.emplace_back();
    columns.add_to(row, settings[i]);
    row.emplace_back(variant_of(*cells[i]));
    const auto& last = accuracy.last_contrast;
    const auto& best = accuracy.best_contrast;
    add_contrast(row, last, last ? error_word(last->judgement) : "");
    row.emplace_back(std::string(best ? error_word(best->judgement) : ""));
    row.emplace_back(static_cast<double>(accuracy.last.count));
    add_estimate(row, accuracy.last);
    add_estimate(row, accuracy.best);
    row.push_back(count_value(accuracy.failed));
    row.push_back(count_value(accuracy.unknown));
  }
  return figure;
}

void add_variance(Row& row, const std::optional<Variance>& variance) {
  if (!variance) {
    row.resize(row.size() + 3);
    return;
  }
  row.emplace_back(variance->f);
  row.emplace_back(fmt::format("{}, {}", variance->between, variance->within));
  row.emplace_back(variance->p);
}

Figure variance_figure(const ReportData& data) {
  std::vector<const Cell*> cells;
  std::vector<const Anova*> known;
  for (const Anova& anova : data.analysis.anova)
    if (anova.last || anova.best) {
      known.push_back(&anova);
      cells.push_back(&anova.surroundings);
    }
  const std::vector<Axes> settings = settings_of(cells);
  const SettingColumns columns(settings);
  Figure figure{
      .id = "anova",
      .title = "Does the codec make any difference?",
      .caption =
          "One-way analysis of variance over codecs: a small p says that some mean differs. Seeds "
          "that left no error are not in it. " +
          columns.common(),
      .showing = Showing::open};
  columns.add_to(figure.table);
  auto& heads = figure.table.columns;
  for (const std::string which : {"last", "best"}) {
    heads.push_back(number_column("F, " + which, "", 2));
    heads.push_back(text_column("df, " + which));
    heads.push_back(number_column("p, " + which, "", 3));
  }
  heads.push_back(text_column("codecs"));
  heads.back().is_key = true;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    Row& row = figure.table.rows.emplace_back();
    columns.add_to(row, settings[i]);
    add_variance(row, known[i]->last);
    add_variance(row, known[i]->best);
    row.emplace_back(fmt::format("{}", fmt::join(known[i]->codecs, ", ")));
  }
  return figure;
}

std::string across(const ReportData& data) {
  std::size_t pairs = 0;
  std::size_t mixed = 0;
  for (const Accuracy& accuracy : data.analysis.accuracy)
    if (accuracy.last_contrast) {
      pairs += accuracy.last_contrast->effect.count;
      mixed += accuracy.across;
    }
  if (mixed == 0) return {};
  return fmt::format(
      "{} of the {} pairs of runs were trained on different processors. Sums round differently "
      "there, so such a pair "
      "differs by chance even where the codec makes no difference: it widens the interval.",
      mixed, pairs);
}

std::string missing(const ReportData& data) {
  std::size_t failed = 0;
  std::size_t unknown = 0;
  for (const Accuracy& accuracy : data.analysis.accuracy) {
    failed += accuracy.failed;
    unknown += accuracy.unknown;
  }
  if (failed + unknown == 0) return {};
  return fmt::format(
      "{} run{} failed and {} left no error that is a number. They may be the ones that went "
      "wrong, so a codec with such seeds is worse, if the others show it, or has too little data; "
      "beside a {} that has them it is better or has too little data.",
      failed, failed == 1 ? "" : "s", unknown, data.study.baseline);
}

std::vector<Block> blocks(const ReportData& data) {
  std::vector<Block> all;
  if (const std::string note = missing(data); !note.empty()) all.emplace_back(Text{note});
  if (const std::string note = across(data); !note.empty()) all.emplace_back(Text{note});
  if (!data.analysis.accuracy.empty()) all.emplace_back(errors_figure(data));
  if (Figure figure = variance_figure(data); !figure.table.rows.empty())
    all.emplace_back(std::move(figure));
  return all;
}

}  // namespace

ReportSection accuracy_section() { return {"accuracy", "Accuracy", blocks}; }

}  // namespace narrowcast
