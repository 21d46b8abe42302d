#include "run/hosts.hpp"

#include <fmt/core.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>

#include "base/error.hpp"

namespace narrowcast {
namespace {

constexpr int kMostSlots = 1024;

// It becomes a word of a command line, where a leading '-' would be an option.
bool is_address(const std::string& text) {
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:@%";
  return text.front() != '-' && text.find_first_not_of(kAllowed) == std::string::npos;
}

std::optional<Host> host_of(const std::string& line) {
  std::istringstream in(line);
  Host host;
  std::string slots;
  std::string more;
  if (!(in >> host.address) || !is_address(host.address)) return std::nullopt;
  if (!(in >> slots)) return host;
  const char* end = slots.data() + slots.size();
  const auto [stop, error] = std::from_chars(slots.data(), end, host.slots);
  if (error != std::errc{} || stop != end || host.slots < 1 || host.slots > kMostSlots ||
      in >> more)
    return std::nullopt;
  return host;
}

}  // namespace

std::vector<Host> read_hosts(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw Error(Fault::system, "cannot read '" + path + "': " + std::strerror(errno));
  std::vector<Host> hosts;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    line.erase(std::min(line.find('#'), line.size()));
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const std::optional<Host> host = host_of(line);
    if (!host)
      throw Error(Fault::usage,
                  fmt::format("line {} of '{}' is not 'address [slots]'", number, path));
    hosts.push_back(*host);
  }
  if (hosts.empty()) throw Error(Fault::usage, "there is no host in '" + path + "'");
  return hosts;
}

int ranks_on(const std::vector<Host>& hosts) {
  int ranks = 0;
  for (const Host& host : hosts) ranks += host.slots;
  return ranks;
}

}  // namespace narrowcast
