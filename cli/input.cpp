#include "cli/input.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <istream>
#include <limits>
#include <optional>

#include "base/bytes.hpp"
#include "base/error.hpp"

namespace narrowcast::cli {
namespace {

struct Unit {
  char letter;
  std::size_t size;
};
constexpr Unit kUnits[] = {
    {'G', std::size_t{1} << 30}, {'M', std::size_t{1} << 20}, {'K', std::size_t{1} << 10}};

std::vector<std::byte> read_all(std::istream& in, const std::string& name) {
  constexpr std::size_t kChunk = std::size_t{1} << 20;
  std::vector<std::byte> bytes;
  std::size_t filled = 0;
  while (in) {
    if (bytes.size() - filled < kChunk) bytes.resize(std::max(2 * bytes.size(), kChunk));
    errno = 0;
    in.read(reinterpret_cast<char*>(bytes.data() + filled),
            static_cast<std::streamsize>(bytes.size() - filled));
    filled += static_cast<std::size_t>(in.gcount());
  }
  if (in.bad())
    throw Error(Fault::system, "cannot read " + name + (errno == 0 ? std::string() : ": ") +
                                   (errno == 0 ? "" : std::strerror(errno)));
  bytes.resize(filled);
  return bytes;
}

std::optional<std::uint64_t> whole_number(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

std::vector<std::byte> read_bytes(const std::string& path, const Console& console) {
  if (path.empty() || path == "-") {
    require(!console.terminals.in, Fault::usage,
            "standard input is a terminal; name a file or redirect one");
    return read_all(console.in, "standard input");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(Fault::system, "cannot read '" + path + "': " + std::strerror(errno));
  return read_all(file, "'" + path + "'");
}

std::vector<float> read_floats(const std::string& path, const Console& console) {
  const std::vector<std::byte> bytes = read_bytes(path, console);
  if (bytes.size() % sizeof(float) != 0)
    throw Error(Fault::wire, "the input ends within a value: " + std::to_string(bytes.size()) +
                                 " bytes are no whole number of float32");
  std::vector<float> values(bytes.size() / sizeof(float));
  copy(bytes, std::as_writable_bytes(std::span(values)));
  return values;
}

std::uint64_t parse_number(std::string_view text, std::string_view what) {
  if (const auto number = whole_number(text)) return *number;
  throw Error(Fault::usage, "'" + std::string(text) + "' is not " + std::string(what));
}

std::size_t parse_count(std::string_view text) {
  std::string_view digits = text;
  std::size_t unit = 1;
  for (const Unit& each : kUnits)
    if (digits.ends_with(each.letter)) {
      unit = each.size;
      digits.remove_suffix(1);
      break;
    }
  const std::optional<std::uint64_t> count = whole_number(digits);
  if (!count || *count == 0 || *count > std::numeric_limits<std::size_t>::max() / unit)
    throw Error(Fault::usage, "'" + std::string(text) +
                                  "' is not a count of values, such as 1000, 64K, 25M or 1G");
  return *count * unit;
}

void require_seconds(double seconds) {
  require(seconds >= 0 && seconds <= 3600, Fault::usage, "--min-time takes 0 to 3600 seconds");
}

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> words;
  for (;;) {
    const std::size_t comma = text.find(',');
    if (text.empty() || comma == 0)
      throw Error(Fault::usage, "a list has an empty place: write a,b,c");
    words.emplace_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return words;
    text.remove_prefix(comma + 1);
  }
}

std::string count_text(std::size_t count) {
  for (const Unit& unit : kUnits)
    if (count != 0 && count % unit.size == 0)
      return std::to_string(count / unit.size) + unit.letter;
  return std::to_string(count);
}

}  // namespace narrowcast::cli
