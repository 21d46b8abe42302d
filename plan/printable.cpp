#include "plan/printable.hpp"

#include "plan/values.hpp"

namespace narrowcast {
namespace {

// Where text is UTF-8: the bytes of the control character that it begins with; 0 for others.
std::size_t control_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const auto within = [](unsigned value, unsigned least, unsigned most) {
    return value >= least && value <= most;
  };
  if (byte(0) < 0x20 || byte(0) == 0x7f) return 1;
  if (byte(0) == 0xc2 && within(byte(1), 0x80, 0x9f)) return 2;  // U+0080 to U+009F
  if (byte(0) == 0xd8 && byte(1) == 0x9c) return 2;              // U+061C
  // U+200E, U+200F and U+2028 to U+202E
  if (byte(0) == 0xe2 && byte(1) == 0x80)
    return within(byte(2), 0x8e, 0x8f) || within(byte(2), 0xa8, 0xae) ? 3 : 0;
  // U+2066 to U+2069
  return byte(0) == 0xe2 && byte(1) == 0x81 && within(byte(2), 0xa6, 0xa9) ? 3 : 0;
}

}  // namespace

bool is_printable(std::string_view text) { return printable(text) == text; }

std::string printable(std::string_view text) {
  const bool whole = is_utf8(text);
  std::string shown;
  while (!text.empty()) {
    const bool broken = !whole && static_cast<unsigned char>(text.front()) >= 0x80;
    const std::size_t bad = broken ? 1 : control_bytes(text);
    shown += bad > 0 ? '?' : text.front();
    text.remove_prefix(bad > 0 ? bad : 1);
  }
  return shown;
}

}  // namespace narrowcast
