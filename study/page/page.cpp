#include "study/page/page.hpp"

#include <fmt/core.h>

#include <span>

#include "study/page/embedded.hpp"

namespace narrowcast {
namespace {

// Nothing comes from anywhere else, whatever records say.
constexpr std::string_view kPolicy =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:";

// These are found without a list of contents.
constexpr std::size_t kFewSections = 5;

std::string html_of(const Text& text) {
  const std::string_view role = text.role == TextRole::lead   ? " class=\"lead\""
                                : text.role == TextRole::note ? " class=\"note\""
                                                              : "";
  return fmt::format("<p{}>{}</p>\n", role, escaped(text.text));
}

std::string html_of(const Bullets& bullets) {
  std::string out = "<ul>\n";
  for (const std::string& item : bullets.items) out += fmt::format("<li>{}</li>\n", escaped(item));
  return out + "</ul>\n";
}

std::string html_of(const Fold& fold) {
  std::string out = fmt::format("<details><summary>{}</summary>\n", escaped(fold.summary));
  for (const std::string& paragraph : fold.paragraphs)
    out += fmt::format("<p>{}</p>\n", escaped(paragraph));
  if (!fold.code.empty()) out += fmt::format("<pre>{}</pre>\n", escaped(fold.code));
  return out + "</details>\n";
}

struct BlockToHtml {
  CsvFiles csv;
  std::string operator()(const Figure& figure) const { return narrowcast::html_of(figure, csv); }
  std::string operator()(const auto& block) const { return html_of(block); }
};

std::string contents(const Page& page) {
  if (page.sections.size() < kFewSections) return {};
  std::string out = "<nav aria-label=\"Contents\">";
  for (const PageSection& section : std::span(page.sections).subspan(1))
    out += fmt::format("<a href=\"#{}\">{}</a> ", section.id, escaped(section.title));
  return out + "</nav>\n";
}

std::string body(const Page& page) {
  std::string out = fmt::format("<header><h1>{}</h1>\n", escaped(page.title));
  if (!page.subtitle.empty())
    out += fmt::format("<p class=\"note\">{}</p>\n", escaped(page.subtitle));
  out += "</header>\n";
  bool first = true;
  for (const PageSection& section : page.sections) {
    out += fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n", section.id, escaped(section.title));
    for (const Block& block : section.blocks) out += std::visit(BlockToHtml{page.csv}, block);
    out += "</section>\n";
    // What people came for stands before any list of contents.
    if (first) out += contents(page);
    first = false;
  }
  if (!page.end.empty())
    out += fmt::format("<footer class=\"note\">{}</footer>\n", escaped(page.end));
  return out;
}

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

std::string html_of(const Page& page) {
  std::string scripts;
  for (const std::string_view script : {chart_js(), chart_parts_js(), charts_js(), page_js()})
    scripts += fmt::format("<script>\n{}</script>\n", script);
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{0}\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<link rel=\"icon\" href=\"data:,\">\n<title>{1}</title>\n<style>\n{2}</style></head>\n"
      "<body>\n<noscript><p class=\"note\">Charts need JavaScript; their data is in the tables "
      "below them.</p></noscript>\n{3}{4}</body></html>\n",
      kPolicy, escaped(page.title), page_css(), body(page), scripts);
}

}  // namespace narrowcast
