#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "study/page/page.hpp"

namespace narrowcast {
namespace {

constexpr double kWidth = 560;
constexpr double kHeight = 300;
constexpr double kLeft = 62;
constexpr double kBottom = 44;
constexpr double kTop = 14;
constexpr double kRight = 16;

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

void widen(Axis& axis, double value, bool& first) {
  axis.low = first ? value : std::min(axis.low, value);
  axis.high = first ? value : std::max(axis.high, value);
  first = false;
}

class Chart {
 public:
  Chart(const Series& series, const Axes& axes) : series_(series), scale_(axes.scale) {
    x_.name = axes.x;
    y_.name = axes.y;
    bool first_x = true;
    bool first_y = true;
    for (const auto& line : series)
      for (const Spot& spot : line) {
        widen(x_, spot.x, first_x);
        widen(y_, spot.y, first_y);
      }
    if (scale_ == Scale::linear) x_.low = 0;
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
    const double low = scaled(x_.low);
    return kLeft +
           (scaled(x) - low) / std::max(scaled(x_.high) - low, 1e-12) * (kWidth - kLeft - kRight);
  }
  double scaled(double x) const {
    return scale_ == Scale::doubling ? std::log2(std::max(x, 1e-12)) : x;
  }
  std::vector<double> marks_of_x() const {
    std::vector<double> marks;
    if (scale_ == Scale::doubling)
      for (double x = x_.low; x <= x_.high * 1.0001; x *= 2) marks.push_back(x);
    else
      for (double x = std::ceil(x_.low / x_.step()) * x_.step(); x <= x_.high * 1.0001;
           x += x_.step())
        marks.push_back(x);
    return marks;
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
    for (const double x : marks_of_x())
      out += fmt::format(R"(<text x="{:.1f}" y="{}" text-anchor="middle">{:g}</text>)", px(x),
                         kHeight - kBottom + 18, x);
    out += fmt::format(R"(<text x="{}" y="{}" text-anchor="end">{}</text>)", kWidth - kRight,
                       kHeight - 6, escaped(x_.name));
    out += fmt::format(R"(<text x="6" y="{}">{}</text>)", kTop - 2, escaped(y_.name));
    return out;
  }

  std::string line(std::size_t i) const {
    std::string points;
    std::string dots;
    for (const Spot& spot : series_[i]) {
      points += fmt::format("{:.1f},{:.1f} ", px(spot.x), py(spot.y));
      dots += fmt::format(R"(<circle cx="{:.1f}" cy="{:.1f}" r="3" fill="{}">)"
                          "<title>{:g}: {:.3f}</title></circle>",
                          px(spot.x), py(spot.y), colour(i), spot.x, spot.y);
    }
    return fmt::format(R"(<polyline points="{}" fill="none" stroke="{}" stroke-width="2"/>)",
                       points, colour(i)) +
           dots;
  }

  const Series& series_;
  Scale scale_;
  Axis x_;
  Axis y_;
};

// The parts of one bar, from the ground up.
std::string bar_parts(const Bar& bar, double left, double width, double unit) {
  std::string out;
  double top = kHeight - kBottom;
  for (std::size_t i = 0; i < bar.parts.size(); ++i) {
    const double height = bar.parts[i] * unit;
    top -= height;
    out += fmt::format(R"(<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" fill="{}">)"
                       "<title>{}: {:.3g}</title></rect>",
                       left, top, width, height, colour(i), escaped(bar.label), bar.parts[i]);
  }
  return out + fmt::format(R"(<text x="{:.1f}" y="{}" text-anchor="middle">{}</text>)",
                           left + width / 2, kHeight - kBottom + 18, escaped(bar.label));
}

}  // namespace

std::string line_chart(const Series& series, const Axes& axes) { return Chart(series, axes).svg(); }

std::string bar_chart(const std::vector<Bar>& bars, std::string_view y_name) {
  Axis y{.name = y_name};
  for (const Bar& bar : bars) {
    double sum = 0;
    for (const double part : bar.parts) sum += part;
    y.high = std::max(y.high, sum * 1.05);
  }
  const double unit = (kHeight - kBottom - kTop) / y.high;
  const double room =
      (kWidth - kLeft - kRight) / static_cast<double>(std::max<std::size_t>(1, bars.size()));
  std::string out = fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">",
                                kWidth, kHeight, escaped(y_name));
  for (double mark = 0; mark <= y.high; mark += y.step())
    out += fmt::format(R"x(<line x1="{}" x2="{}" y1="{:.1f}" y2="{:.1f}" stroke="var(--line)"/>)x"
                       R"(<text x="{}" y="{:.1f}" text-anchor="end">{:g}</text>)",
                       kLeft, kWidth - kRight, kHeight - kBottom - mark * unit,
                       kHeight - kBottom - mark * unit, kLeft - 6,
                       kHeight - kBottom - mark * unit + 4, mark);
  for (std::size_t i = 0; i < bars.size(); ++i)
    out += bar_parts(bars[i], kLeft + room * (static_cast<double>(i) + 0.15), room * 0.7, unit);
  return out + fmt::format(R"(<text x="6" y="{}">{}</text></svg>)", kTop - 2, escaped(y_name));
}

}  // namespace narrowcast
