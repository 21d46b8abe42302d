#include <fmt/core.h>

#include <cmath>
#include <functional>
#include <optional>

#include "study/curves.hpp"
#include "study/page/page.hpp"

namespace narrowcast {
namespace {

std::string bytes_text(double bytes) {
  return bytes >= 1e9 ? fmt::format("{:.2f} GB", bytes / 1e9)
                      : fmt::format("{:.1f} MB", bytes / 1e6);
}

std::string percent(const std::optional<double>& number) {
  return number ? fmt::format("{:.2f} %", *number) : "-";
}

Series series_of(
    std::span<const RunRecord> runs,
    const std::function<std::optional<Spot>(const EpochPoint&, double sent)>& spot_of) {
  Series series;
  for (const RunRecord& run : runs) {
    double sent = 0;
    auto& line = series.emplace_back();
    for (const EpochPoint& point : run.epochs) {
      sent += point.wire_bytes;
      const auto spot = spot_of(point, sent);
      if (spot && std::isfinite(spot->y)) line.push_back(*spot);
    }
  }
  return series;
}

std::string charts(std::span<const RunRecord> runs) {
  const Series by_epoch = series_of(runs, [](const EpochPoint& point, double) {
    return point.test_error ? std::optional(Spot{point.epoch, *point.test_error}) : std::nullopt;
  });
  const Series by_bytes = series_of(runs, [](const EpochPoint& point, double sent) {
    return point.test_error ? std::optional(Spot{sent / 1e6, *point.test_error}) : std::nullopt;
  });
  const Series loss = series_of(runs, [](const EpochPoint& point, double) {
    return std::optional(Spot{point.epoch, point.train_loss});
  });
  return "<div class=\"charts\">" +
         figure(line_chart(by_epoch, {"epoch", "test error, %"}), "Test error by epoch") +
         figure(line_chart(by_bytes, {"MB sent by a worker", "test error, %"}),
                "The same by what has travelled") +
         figure(line_chart(loss, {"epoch", "training loss"}), "Training loss") + "</div>";
}

std::string table(std::span<const RunRecord> runs) {
  std::string out =
      "<div class=\"scroll\"><table><tr><th>run</th><th>last error</th><th>best error</th>"
      "<th>sent by a worker</th><th>in fp32</th><th>saved</th><th>images/s</th><th>step ms</th>"
      "<th>waiting ms</th><th>replicas</th></tr>";
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const RunRecord& run = runs[i];
    const double sent = run.wire_bytes();
    const EpochPoint last = run.epochs.empty() ? EpochPoint{} : run.epochs.back();
    out += fmt::format(
        "<tr><td><span class=\"key\" style=\"background:{}\"></span>{}</td><td>{}</td><td>{}</td>"
        "<td>{}</td><td>{}</td><td>{}</td><td>{:.0f}</td><td>{:.2f}</td><td>{:.2f}</td>"
        "<td><code>{}</code></td></tr>",
        colour(i), escaped(run.label), percent(run.last_error()), percent(run.best_error()),
        bytes_text(sent), bytes_text(run.fp32_bytes()),
        sent > 0 ? fmt::format("{:.2f}x", run.fp32_bytes() / sent) : "-", last.images_per_s,
        last.step_ms, last.wait_ms, escaped(run.replica_hash));
  }
  return out + "</table></div>";
}

std::string settings(std::span<const RunRecord> runs) {
  std::string out;
  for (const RunRecord& run : runs) {
    out += fmt::format("<details><summary>{}: {} on {}, {} workers, seed {}, commit {}</summary>",
                       escaped(run.label), escaped(run.net), escaped(run.data), run.workers,
                       run.seed, escaped(run.commit));
    for (const std::string& fault : run.faults)
      out += fmt::format("<p>went on after: {}</p>", escaped(fault));
    out += fmt::format("<pre>{}</pre></details>", escaped(run.settings));
  }
  return out;
}

}  // namespace

std::string curves_page(std::span<const RunRecord> runs, std::string_view title) {
  return page(title, charts(runs) + "\n<h2>What it took</h2>\n" + table(runs) +
                         "\n<h2>How it was run</h2>\n" + settings(runs));
}

}  // namespace narrowcast
