#include "study/page/page.hpp"

#include <fmt/core.h>

#include <array>

namespace narrowcast {
namespace {

// Told apart by people who see colours differently, too (Okabe and Ito).
constexpr std::array<std::string_view, 7> kColours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                      "#e69f00", "#56b4e9", "#6b6b6b"};
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

}  // namespace

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

std::string_view colour(std::size_t i) { return kColours[i % kColours.size()]; }

std::string figure(const std::string& svg, std::string_view caption) {
  return fmt::format("<figure>{}<figcaption>{}</figcaption></figure>", svg, caption);
}

std::string legend(const std::vector<std::string>& names) {
  std::string out = "<p>";
  for (std::size_t i = 0; i < names.size(); ++i)
    out += fmt::format(R"(<span class="key" style="background:{}"></span>{} &nbsp; )", colour(i),
                       escaped(names[i]));
  return out + "</p>";
}

std::string page(std::string_view title, const std::string& body) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
      "<title>{0}</title><style>{1}</style></head><body><h1>{0}</h1>\n{2}\n</body></html>\n",
      escaped(title), kStyle, body);
}

}  // namespace narrowcast
