#pragma once

#include <string_view>

// Files that every page carries with it.
namespace narrowcast {

std::string_view chart_js();  // Chart.js 3.9, as Debian's libjs-chart.js has it
std::string_view chart_parts_js();
std::string_view charts_js();
std::string_view page_js();
std::string_view page_css();

}  // namespace narrowcast
