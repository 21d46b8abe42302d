#include "transport/rendezvous_socket.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <memory>

#include "base/error.hpp"

namespace narrowcast::rendezvous {
namespace {

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

Addresses resolve(const char* host, std::uint16_t port, int flags, std::string& why) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int status = getaddrinfo(host, std::to_string(port).c_str(), &hints, &found);
  if (status != 0) why = gai_strerror(status);
  return {status == 0 ? found : nullptr, &freeaddrinfo};
}

bool is_address(const std::string& host) {
  in6_addr ignored;
  return host == "localhost" || inet_pton(AF_INET, host.c_str(), &ignored) == 1 ||
         inet_pton(AF_INET6, host.c_str(), &ignored) == 1;
}

Socket open_for(const addrinfo& address) {
  return Socket(socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

void switch_on(const Socket& socket, int level, int option) {
  const int on = 1;
  setsockopt(socket.fd(), level, option, &on, sizeof on);
}

Socket try_to_listen(const addrinfo& address, std::string& why) {
  Socket socket = open_for(address);
  if (socket) switch_on(socket, SOL_SOCKET, SO_REUSEADDR);
  if (socket && bind(socket.fd(), address.ai_addr, address.ai_addrlen) == 0 &&
      listen(socket.fd(), SOMAXCONN) == 0)
    return socket;
  why = std::strerror(errno);
  return {};
}

// Waits for the connection that connect() began.
bool connected(const Socket& socket, Clock::time_point deadline, std::string& why) {
  pollfd waiting = {.fd = socket.fd(), .events = POLLOUT, .revents = 0};
  if (poll(&waiting, 1, poll_time(deadline)) != 1) {
    why = "no answer";
    return false;
  }
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(socket.fd(), SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) why = std::strerror(error);
  return error == 0;
}

bool wait_for(const Socket& socket, std::int16_t events, Clock::time_point deadline) {
  pollfd waiting = {.fd = socket.fd(), .events = events, .revents = 0};
  for (;;) {
    const int ready = poll(&waiting, 1, poll_time(deadline));
    if (ready == 1) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

// What read() or write() returned, as read_some() and write_some() say it.
std::optional<std::size_t> moved(ssize_t count) {
  if (count >= 0) return static_cast<std::size_t>(count);
  if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return 0;
  return std::nullopt;
}

}  // namespace

std::string text_of(const Endpoint& endpoint) {
  const bool v6 = endpoint.host.find(':') != std::string::npos;
  return fmt::format("{}{}{}:{}", v6 ? "[" : "", endpoint.host, v6 ? "]" : "", endpoint.port);
}

Socket listen_at(const Endpoint& endpoint) {
  std::string why = "no such address";
  const bool exactly = is_address(endpoint.host);
  const Addresses found = resolve(exactly ? endpoint.host.c_str() : nullptr, endpoint.port,
                                  exactly ? 0 : AI_PASSIVE, why);
  for (const addrinfo* address = found.get(); address != nullptr; address = address->ai_next)
    if (Socket socket = try_to_listen(*address, why)) return socket;
  throw Error(Fault::system, fmt::format("rank 0 cannot listen at {}: {}", text_of(endpoint), why));
}

Socket adopt_listening(int fd) {
  int listening = 0;
  socklen_t size = sizeof listening;
  if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &size) != 0 || listening == 0)
    throw Error(Fault::usage, fmt::format("file descriptor {} is no listening socket", fd));
  fcntl(fd, F_SETFD, FD_CLOEXEC);
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
  return Socket(fd);
}

std::uint16_t port_of(const Socket& socket) {
  sockaddr_storage address = {};
  socklen_t size = sizeof address;
  getsockname(socket.fd(), reinterpret_cast<sockaddr*>(&address), &size);
  if (address.ss_family == AF_INET6)
    return ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
  return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

std::optional<Socket> connect_to(const Endpoint& endpoint, Clock::time_point deadline,
                                 std::string& why) {
  const Addresses found = resolve(endpoint.host.c_str(), endpoint.port, 0, why);
  for (const addrinfo* address = found.get(); address != nullptr; address = address->ai_next) {
    Socket socket = open_for(*address);
    const int status = socket ? connect(socket.fd(), address->ai_addr, address->ai_addrlen) : -1;
    if (status != 0 && errno != EINPROGRESS) {
      why = std::strerror(errno);
    } else if (connected(socket, deadline, why)) {
      switch_on(socket, IPPROTO_TCP, TCP_NODELAY);
      return socket;
    }
  }
  return std::nullopt;
}

std::optional<std::size_t> read_some(const Socket& socket, MutableBytes into) {
  const ssize_t count = recv(socket.fd(), into.data(), into.size(), 0);
  if (count == 0 && !into.empty()) return std::nullopt;
  return moved(count);
}

std::optional<std::size_t> write_some(const Socket& socket, Bytes from) {
  return moved(send(socket.fd(), from.data(), from.size(), MSG_NOSIGNAL));
}

bool read_all(const Socket& socket, MutableBytes into, Clock::time_point deadline) {
  while (!into.empty()) {
    if (!wait_for(socket, POLLIN, deadline)) return false;
    const std::optional<std::size_t> count = read_some(socket, into);
    if (!count) return false;
    into = into.subspan(*count);
  }
  return true;
}

bool write_all(const Socket& socket, Bytes from, Clock::time_point deadline) {
  while (!from.empty()) {
    if (!wait_for(socket, POLLOUT, deadline)) return false;
    const std::optional<std::size_t> count = write_some(socket, from);
    if (!count) return false;
    from = from.subspan(*count);
  }
  return true;
}

int poll_time(Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, std::numeric_limits<int>::max()));
}

}  // namespace narrowcast::rendezvous
