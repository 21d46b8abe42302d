#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "study/curves.hpp"

namespace narrowcast {
namespace {

// Told apart by people who see colours differently, too (Okabe and Ito).
constexpr std::array<std::string_view, 7> kColours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                      "#e69f00", "#56b4e9", "#6b6b6b"};
constexpr double kWidth = 560;
constexpr double kHeight = 300;
constexpr double kLeft = 62;
constexpr double kBottom = 44;
constexpr double kTop = 14;
constexpr double kRight = 16;

constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark; --ink: #1c1c1c; --soft: #666; --line: #d8d8d8; --paper: #fff; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #eee; --soft: #aaa; --line: #444; --paper: #17181a; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
       max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
.charts { display: flex; flex-wrap: wrap; gap: 1.5rem; }
figure { margin: 0; flex: 1 1 30rem; } figcaption { color: var(--soft); }
svg { width: 100%; height: auto; } svg text { fill: var(--soft); font-size: 12px; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: .3rem .6rem; border-bottom: 1px solid var(--line); }
th:first-child, td:first-child { text-align: left; }
.scroll { overflow-x: auto; }
.key { display: inline-block; width: .8rem; height: .8rem; border-radius: 2px; margin-right: .4rem; }
details { margin: .5rem 0; } pre { overflow-x: auto; color: var(--soft); }
)";

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

std::string bytes_text(double bytes) {
  return bytes >= 1e9 ? fmt::format("{:.2f} GB", bytes / 1e9)
                      : fmt::format("{:.1f} MB", bytes / 1e6);
}

std::string percent(const std::optional<double>& number) {
  return number ? fmt::format("{:.2f} %", *number) : "-";
}

struct Axis {
  double low = 0;
  double high = 1;
  std::string_view name;

  // A step of 1, 2 or 5 times a power of ten that gives some five marks.
  double step() const {
    const double rough = std::max(high - low, 1e-9) / 5;
    const double power = std::pow(10, std::floor(std::log10(rough)));
    for (const double times : {1.0, 2.0, 5.0})
      if (times * power >= rough) return times * power;
    return 10 * power;
  }
};

struct Spot {
  double x = 0;
  double y = 0;
};

using Series = std::vector<std::vector<Spot>>;

void widen(Axis& axis, double value, bool& first) {
  axis.low = first ? value : std::min(axis.low, value);
  axis.high = first ? value : std::max(axis.high, value);
  first = false;
}

class Chart {
 public:
  Chart(const Series& series, std::string_view x_name, std::string_view y_name) : series_(series) {
    x_.name = x_name;
    y_.name = y_name;
    bool first_x = true;
    bool first_y = true;
    for (const auto& line : series)
      for (const Spot& spot : line) {
        widen(x_, spot.x, first_x);
        widen(y_, spot.y, first_y);
      }
    x_.low = 0;
    const double margin = std::max((y_.high - y_.low) * 0.06, 1e-6);
    y_.low = std::max(0.0, y_.low - margin);
    y_.high += margin;
  }

  std::string svg() const {
    std::string out =
        fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{} by {}\">", kWidth,
                    kHeight, escaped(y_.name), escaped(x_.name));
    out += grid();
    for (std::size_t i = 0; i < series_.size(); ++i) out += line(i);
    return out + "</svg>";
  }

 private:
  double px(double x) const {
    return kLeft + (x - x_.low) / std::max(x_.high - x_.low, 1e-12) * (kWidth - kLeft - kRight);
  }
  double py(double y) const {
    return kHeight - kBottom -
           (y - y_.low) / std::max(y_.high - y_.low, 1e-12) * (kHeight - kBottom - kTop);
  }

  std::string grid() const {
    std::string out;
    for (double y = std::ceil(y_.low / y_.step()) * y_.step(); y <= y_.high; y += y_.step())
      out += fmt::format(R"x(<line x1="{}" x2="{}" y1="{:.1f}" y2="{:.1f}" stroke="var(--line)"/>)x"
                         R"(<text x="{}" y="{:.1f}" text-anchor="end">{:g}</text>)",
                         kLeft, kWidth - kRight, py(y), py(y), kLeft - 6, py(y) + 4, y);
    for (double x = std::ceil(x_.low / x_.step()) * x_.step(); x <= x_.high * 1.0001;
         x += x_.step())
      out += fmt::format(R"(<text x="{:.1f}" y="{}" text-anchor="middle">{:g}</text>)", px(x),
                         kHeight - kBottom + 18, x);
    out += fmt::format(R"(<text x="{}" y="{}" text-anchor="end">{}</text>)", kWidth - kRight,
                       kHeight - 6, escaped(x_.name));
    out += fmt::format(R"(<text x="6" y="{}">{}</text>)", kTop - 2, escaped(y_.name));
    return out;
  }

  std::string line(std::size_t i) const {
    const std::string_view colour = kColours[i % kColours.size()];
    std::string points;
    std::string dots;
    for (const Spot& spot : series_[i]) {
      points += fmt::format("{:.1f},{:.1f} ", px(spot.x), py(spot.y));
      dots += fmt::format(R"(<circle cx="{:.1f}" cy="{:.1f}" r="3" fill="{}">)"
                          "<title>{:g}: {:.3f}</title></circle>",
                          px(spot.x), py(spot.y), colour, spot.x, spot.y);
    }
    return fmt::format(R"(<polyline points="{}" fill="none" stroke="{}" stroke-width="2"/>)",
                       points, colour) +
           dots;
  }

  const Series& series_;
  Axis x_;
  Axis y_;
};

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

std::string figure(const std::string& svg, std::string_view caption) {
  return fmt::format("<figure>{}<figcaption>{}</figcaption></figure>", svg, caption);
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
         figure(Chart(by_epoch, "epoch", "test error, %").svg(), "Test error by epoch") +
         figure(Chart(by_bytes, "MB sent by a worker", "test error, %").svg(),
                "The same by what has travelled") +
         figure(Chart(loss, "epoch", "training loss").svg(), "Training loss") + "</div>";
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
        kColours[i % kColours.size()], escaped(run.label), percent(run.last_error()),
        percent(run.best_error()), bytes_text(sent), bytes_text(run.fp32_bytes()),
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
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
      "<title>{0}</title><style>{1}</style></head><body><h1>{0}</h1>\n{2}\n"
      "<h2>What it took</h2>\n{3}\n<h2>How it was run</h2>\n{4}\n</body></html>\n",
      escaped(title), kStyle, charts(runs), table(runs), settings(runs));
}

}  // namespace narrowcast
