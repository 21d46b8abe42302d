#include "plan/parts/nesting.hpp"

#include <algorithm>
#include <cctype>

namespace narrowcast {
namespace {

// Where the string ends that begins here, behind its last quotation mark.
std::size_t end_of_string(std::string_view text, std::size_t begin) {
  const char mark = text[begin];
  const std::string_view three = text.substr(begin, 3);
  const bool is_long = three.size() == 3 && three[1] == mark && three[2] == mark;
  std::size_t at = begin + (is_long ? 3 : 1);
  for (; at < text.size(); ++at) {
    if (mark == '"' && text[at] == '\\')
      ++at;
    else if (!is_long && (text[at] == mark || text[at] == '\n'))
      return at + 1;
    else if (is_long && text.substr(at, 3) == three)
      return at + 3;
  }
  return text.size();
}

// Parts of a key, and what may stand between them.
bool belongs_to_key(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == ' ' ||
         c == '\t' || static_cast<unsigned char>(c) >= 0x80;
}

}  // namespace

std::optional<std::size_t> deep_key(std::string_view text) {
  std::size_t dots = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"' || c == '\'') {
      at = end_of_string(text, at) - 1;
    } else if (c == '#') {
      at = text.substr(0, text.find('\n', at)).size() - 1;
      dots = 0;
    } else if (c == '.') {
      if (++dots >= kDeepestToml)
        return 1 + static_cast<std::size_t>(std::count(
                       text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
    } else if (!belongs_to_key(c)) {
      dots = 0;
    }
  }
  return std::nullopt;
}

}  // namespace narrowcast
