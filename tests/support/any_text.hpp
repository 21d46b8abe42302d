#pragma once

#include <rapidcheck.h>

#include <string>
#include <string_view>

#include "base/error.hpp"

namespace narrowcast::test {

// Whatever a file has in it, `read` (text, name) has a value that comes back from its own text, or an Error of one line
// that begins with the file's name.
template <class Read>
void answered(const Read& read, const std::string& text) {
  try {
    const auto value = read(text, "any");
    RC_ASSERT(read(to_toml(value), "again") == value);
  } catch (const Error& error) {
    RC_ASSERT(error.fault() == Fault::usage);
    const std::string_view message = error.what();
    RC_ASSERT(message.starts_with("any:"));
    RC_ASSERT(message.find('\n') == std::string_view::npos);
  }
}

// With a piece cut out, doubled or overwritten, three times.
inline std::string damaged(std::string text) {
  for (int i = 0; i < 3; ++i) {
    const std::size_t at = *rc::gen::inRange<std::size_t>(0, text.size() + 1);
    const std::size_t count = *rc::gen::inRange<std::size_t>(0, 20);
    const std::string piece = text.substr(at, count);
    switch (*rc::gen::inRange(0, 3)) {
      case 0:
        text.erase(at, count);
        break;
      case 1:
        text.insert(at, piece);
        break;
      default:
        text.replace(at, count, *rc::gen::arbitrary<std::string>());
    }
  }
  return text;
}

}  // namespace narrowcast::test
