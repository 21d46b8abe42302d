#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "study/page/figure.hpp"

// What the pages of this room are made of. A page is one file that needs no other and asks no network.
namespace narrowcast {

enum class TextRole { plain, lead, note };
struct Text {
  std::string text;
  TextRole role = TextRole::plain;
};
struct Bullets {
  std::vector<std::string> items = {};
};
// Closed until somebody opens it.
struct Fold {
  std::string summary;
  std::vector<std::string> paragraphs = {};
  std::string code = {};
};
using Block = std::variant<Text, Bullets, Fold, Figure>;

struct PageSection {
  std::string id;
  std::string title;
  std::vector<Block> blocks = {};
};

// Whether a figure's data lies in <id>.csv beside the page, or in the page alone.
enum class CsvFiles { none, beside };

struct Page {
  std::string title;
  std::string subtitle = {};
  std::vector<PageSection> sections = {};
  std::string end = {};  // the last line
  CsvFiles csv = CsvFiles::none;
};

// For HTML, in text and in attributes.
std::string escaped(std::string_view text);

std::string html_of(const Page& page);
std::string html_of(const Figure& figure, CsvFiles csv);
std::string markdown_of(const Page& page);

}  // namespace narrowcast
