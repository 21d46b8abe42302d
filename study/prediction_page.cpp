#include "study/prediction_page.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "study/page/page.hpp"

namespace narrowcast {
namespace {

using Points = std::span<const PredictionPoint>;

std::vector<std::string> codecs_of(Points points) {
  std::vector<std::string> names;
  for (const PredictionPoint& point : points)
    if (std::ranges::find(names, point.codec) == names.end()) names.push_back(point.codec);
  return names;
}

Series by_codec(Points points, double PredictionPoint::*value) {
  Series series;
  for (const std::string& codec : codecs_of(points)) {
    auto& line = series.emplace_back();
    for (const PredictionPoint& point : points)
      if (point.codec == codec) line.push_back({static_cast<double>(point.workers), point.*value});
  }
  return series;
}

std::string curves(Points points) {
  const Axes speedup{"workers", "times one worker", Scale::doubling};
  const Axes gain{"workers", "times fp32", Scale::doubling};
  return legend(codecs_of(points)) + "<div class=\"charts\">" +
         figure(line_chart(by_codec(points, &PredictionPoint::speedup), speedup),
                "Speedup by number of workers") +
         figure(line_chart(by_codec(points, &PredictionPoint::over_fp32), gain),
                "How many times as quick as in fp32") +
         "</div>";
}

std::string bars(Points points, int workers) {
  std::vector<Bar> bars;
  for (const PredictionPoint& point : points)
    if (point.workers == workers)
      bars.push_back({point.codec, {point.compute, point.wait, point.straggling}});
  return figure(bar_chart(bars, "ms"), fmt::format("A step on {} workers", workers));
}

std::string parts(Points points) {
  return legend({"computing", "waiting for others' gradients", "waiting for the slowest worker"}) +
         "<div class=\"charts\">" + bars(points, points.front().workers) +
         (points.back().workers == points.front().workers ? ""
                                                          : bars(points, points.back().workers)) +
         "</div>";
}

std::string rate(const std::optional<double>& bytes_a_second) {
  if (!bytes_a_second) return "";
  if (*bytes_a_second == 0) return "no speed";
  return std::isinf(*bytes_a_second) ? "any speed"
                                     : fmt::format("{:.3g} Gbit/s", 8e-9 * *bytes_a_second);
}

std::string table(Points points) {
  std::string out =
      "<div class=\"scroll\"><table><tr><th>codec</th><th>workers</th><th>step ms</th>"
      "<th>between</th><th>waiting ms</th><th>MB sent</th><th>speedup</th><th>over "
      "fp32</th><th>breaks even at</th></tr>";
  for (const PredictionPoint& point : points)
    out += fmt::format(
        "<tr><td>{}</td><td>{}</td><td>{:.2f}</td><td>{:.2f} - {:.2f}</td><td>{:.2f}</td>"
        "<td>{:.2f}</td><td>{:.2f}</td><td>{:.2f}</td><td>{}</td></tr>",
        escaped(point.codec), point.workers, point.step, point.low, point.high, point.wait,
        point.megabytes, point.speedup, point.over_fp32, rate(point.break_even));
  return out + "</table></div>";
}

}  // namespace

std::string prediction_page(Points points, std::string_view title, std::string_view source) {
  if (points.empty()) return page(title, "<p>Nothing was predicted.</p>");
  return page(title, curves(points) + "\n<h2>What a step consists of</h2>\n" + parts(points) +
                         "\n<h2>All figures</h2>\n" + table(points) +
                         fmt::format("<p>Predicted from: {}</p>", escaped(source)));
}

}  // namespace narrowcast
