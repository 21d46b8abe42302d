#include "transport/modules/gloo_interface.hpp"

#include <fmt/core.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <set>

#include "base/error.hpp"
#include "transport/environment.hpp"

namespace narrowcast::over_gloo {
namespace {

constexpr const char* kLoopback = "127.0.0.1";
constexpr const char* kWorld = "192.0.2.1";  // an address of nobody's; nothing is sent there

std::set<std::string> interfaces_with_addresses() {
  std::set<std::string> names;
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return names;
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next)
    if (one->ifa_addr != nullptr &&
        (one->ifa_addr->sa_family == AF_INET || one->ifa_addr->sa_family == AF_INET6))
      names.insert(one->ifa_name);
  freeifaddrs(all);
  return names;
}

void check_interface(const std::string& name) {
  const std::set<std::string> names = interfaces_with_addresses();
  if (names.contains(name)) return;
  std::string list;
  for (const std::string& other : names) list += (list.empty() ? "" : ", ") + other;
  throw Error(Fault::usage,
              fmt::format("GLOO_SOCKET_IFNAME is '{}', which has no address here: {}", name, list));
}

std::string text_of(const sockaddr_storage& address, socklen_t size) {
  char text[NI_MAXHOST] = {};
  getnameinfo(reinterpret_cast<const sockaddr*>(&address), size, text, sizeof text, nullptr, 0,
              NI_NUMERICHOST);
  return text;
}

// The address that packets to `remote` would leave from: connecting a datagram socket sends none.
std::string local_address(const addrinfo& remote) {
  const int fd = socket(remote.ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return {};
  sockaddr_storage local = {};
  socklen_t size = sizeof local;
  const bool known = connect(fd, remote.ai_addr, remote.ai_addrlen) == 0 &&
                     getsockname(fd, reinterpret_cast<sockaddr*>(&local), &size) == 0;
  close(fd);
  return known ? text_of(local, size) : std::string();
}

std::string address_facing(const std::string& host) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), "9", &hints, &found) != 0) return {};
  std::string address;
  for (const addrinfo* one = found; one != nullptr && address.empty(); one = one->ai_next)
    address = local_address(*one);
  freeaddrinfo(found);
  return address;
}

bool is_loopback(const std::string& address) {
  return address.starts_with("127.") || address == "::1";
}

std::string outward_address() {
  const std::string address = address_facing(kWorld);
  return address.empty() ? kLoopback : address;
}

}  // namespace

Interface choose_interface(const Joining& joining, const MeetingPlace& place) {
  if (const auto name = environment_variable("GLOO_SOCKET_IFNAME"); name && !name->empty()) {
    check_interface(*name);
    return {.name = *name, .address = {}};
  }
  if (place.kind == Meeting::file) {
    const bool alone = joining.place.local_size == joining.place.size;
    return {.name = {}, .address = alone ? kLoopback : outward_address()};
  }
  std::string address = address_facing(place.host);
  // Debian maps a machine's own name to 127.0.1.1, which is of no use to the others.
  const bool meant = is_loopback(place.host) || place.host == "localhost";
  if (address.empty() || (is_loopback(address) && !meant)) address = outward_address();
  return {.name = {}, .address = address};
}

}  // namespace narrowcast::over_gloo
