#include <fmt/core.h>

#include <charconv>

#include "base/error.hpp"
#include "transport/rendezvous.hpp"

namespace narrowcast {
namespace {

Error unreadable(std::string_view text) {
  return {Fault::usage, fmt::format("'{}' is no rendezvous: tcp://HOST:PORT, file:///FOLDER or "
                                    "redis://HOST:PORT[/NAME]",
                                    text)};
}

// Cuts `prefix` off the beginning of `text`.
bool strip(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// "host:port" or "[v6 address]:port".
bool parse_endpoint(std::string_view text, MeetingPlace& place) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  if (host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  else if (host.find(':') != std::string_view::npos)
    return false;
  const auto [stopped, error] = std::from_chars(port.data(), port.data() + port.size(), place.port);
  place.host = host;
  return error == std::errc() && stopped == port.data() + port.size() && !host.empty();
}

}  // namespace

MeetingPlace parse_meeting_place(std::string_view text) {
  MeetingPlace place;
  std::string_view rest = text;
  if (strip(rest, "file://")) {
    place.kind = Meeting::file;
    place.path = rest;
    if (!rest.starts_with('/')) throw unreadable(text);
    return place;
  }
  if (strip(rest, "redis://")) {
    place.kind = Meeting::redis;
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    place.path = slash < rest.size() ? rest.substr(slash + 1) : "";
    rest = rest.substr(0, slash);
  } else if (!strip(rest, "tcp://")) {
    throw unreadable(text);
  }
  if (!parse_endpoint(rest, place)) throw unreadable(text);
  return place;
}

}  // namespace narrowcast
