#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

// What the pages of this room are made of. A page is one file that needs no other.
namespace narrowcast {

std::string escaped(std::string_view text);

// Of the i-th line, bar or row.
std::string_view colour(std::size_t i);

struct Spot {
  double x = 0;
  double y = 0;
};
using Series = std::vector<std::vector<Spot>>;

enum class Scale { linear, doubling };  // of the axis to the right

struct Axes {
  std::string_view x;
  std::string_view y;
  Scale scale = Scale::linear;
};

// Lines by colour, as SVG.
std::string line_chart(const Series& series, const Axes& axes);

// One bar for each label, of parts on top of each other.
struct Bar {
  std::string label;
  std::vector<double> parts = {};
};
std::string bar_chart(const std::vector<Bar>& bars, std::string_view y_name);

std::string figure(const std::string& svg, std::string_view caption);

// A coloured square and a word for each.
std::string legend(const std::vector<std::string>& names);

std::string page(std::string_view title, const std::string& body);

}  // namespace narrowcast
