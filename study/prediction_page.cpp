#include "study/prediction_page.hpp"

#include <fmt/core.h>

#include <cmath>

#include "study/page/page.hpp"

namespace narrowcast {
namespace {

using Points = std::span<const PredictionPoint>;
constexpr ColumnKind kNumber = ColumnKind::number;

struct Chart {
  std::string_view id;
  std::string_view title;
  std::string_view name;
  std::string_view unit;
  double PredictionPoint::*value;
};

Figure by_workers(Points points, const Chart& chart) {
  Figure figure{.id = std::string(chart.id),
                .title = std::string(chart.title),
                .table = {.columns = {{.name = "codec"},
                                      {.name = "workers", .kind = kNumber},
                                      {.name = std::string(chart.name),
                                       .kind = kNumber,
                                       .unit = std::string(chart.unit)}}},
                .look = {.drawing = Drawing::line,
                         .x = "workers",
                         .y = std::string(chart.name),
                         .series = "codec",
                         .x_scale = AxisScale::logarithmic,
                         .mark = 1,
                         .first = "fp32"}};
  for (const PredictionPoint& point : points)
    figure.table.rows.push_back(
        {point.codec, static_cast<double>(point.workers), point.*chart.value});
  return figure;
}

// On the fewest workers and on the most.
Figure parts(Points points) {
  Figure figure{
      .id = "parts",
      .title = "What a step consists of",
      .table = {.columns = {{.name = "codec"},
                            {.name = "workers"},
                            {.name = "computing", .kind = kNumber, .unit = "ms"},
                            {.name = "waiting for gradients", .kind = kNumber, .unit = "ms"},
                            {.name = "waiting for the slowest", .kind = kNumber, .unit = "ms"}}},
      .look = {.drawing = Drawing::stacked,
               .x = "codec",
               .facets = {"workers"},
               .stacks = {{{"computing", "waiting for gradients", "waiting for the slowest"}}}}};
  for (const PredictionPoint& point : points)
    if (point.workers == points.front().workers || point.workers == points.back().workers)
      figure.table.rows.push_back({point.codec, fmt::format("{} workers", point.workers),
                                   point.compute, point.wait, point.straggling});
  return figure;
}

TableValue rate(const std::optional<double>& bytes_a_second) {
  if (!bytes_a_second) return std::monostate();
  if (*bytes_a_second == 0) return "no speed";
  if (std::isinf(*bytes_a_second)) return "any speed";
  return fmt::format("{:.3g} Gbit/s", 8e-9 * *bytes_a_second);
}

Figure all(Points points) {
  Figure figure{.id = "steps",
                .title = "All figures",
                .table = {.columns = {{.name = "codec"},
                                      {.name = "workers", .kind = kNumber},
                                      {.name = "step", .kind = kNumber, .unit = "ms"},
                                      {.name = "from", .kind = ColumnKind::low, .unit = "ms"},
                                      {.name = "to", .kind = ColumnKind::high, .unit = "ms"},
                                      {.name = "waiting", .kind = kNumber, .unit = "ms"},
                                      {.name = "sent", .kind = kNumber, .unit = "MB"},
                                      {.name = "speedup", .kind = kNumber, .decimals = 2},
                                      {.name = "over fp32", .kind = kNumber, .decimals = 2},
                                      {.name = "breaks even at"}}},
                .showing = Showing::open};
  for (const PredictionPoint& point : points)
    figure.table.rows.push_back({point.codec, static_cast<double>(point.workers), point.step,
                                 point.low, point.high, point.wait, point.megabytes, point.speedup,
                                 point.over_fp32, rate(point.break_even)});
  return figure;
}

}  // namespace

std::string prediction_page(Points points, std::string_view title, std::string_view source) {
  Page page{.title = std::string(title)};
  if (points.empty()) {
    page.end = "Nothing was predicted.";
    return html_of(page);
  }
  page.sections = {{"scaling",
                    "Scaling",
                    {by_workers(points, {"speedup", "Speedup by number of workers", "speedup",
                                         "times one worker", &PredictionPoint::speedup}),
                     by_workers(points, {"over-fp32", "How many times as quick as in fp32", "gain",
                                         "times fp32", &PredictionPoint::over_fp32})}},
                   {"step", "A step", {parts(points)}},
                   {"all", "All figures", {all(points)}}};
  page.end = fmt::format("Predicted from: {}", source);
  return html_of(page);
}

}  // namespace narrowcast
