#include "cli/input.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <istream>

#include "base/bytes.hpp"
#include "base/error.hpp"

namespace narrowcast::cli {
namespace {

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

}  // namespace narrowcast::cli
