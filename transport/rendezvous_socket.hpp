#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/bytes.hpp"
#include "base/descriptor.hpp"

// The little of TCP that the rendezvous needs. Every socket is non-blocking and closes at exec.
namespace narrowcast::rendezvous {

using Clock = std::chrono::steady_clock;

class Socket {
 public:
  Socket() = default;
  explicit Socket(int fd) : descriptor_(fd) {}

  int fd() const { return descriptor_.get(); }
  explicit operator bool() const { return descriptor_.is_open(); }

 private:
  Descriptor descriptor_;
};

struct Endpoint {
  std::string host;
  std::uint16_t port = 0;
};

std::string text_of(const Endpoint& endpoint);

// Listens where RendezvousServer says. Fault::system names what cannot be bound.
Socket listen_at(const Endpoint& endpoint);

// Takes over a socket that somebody else bound; Fault::usage when it does not listen.
Socket adopt_listening(int fd);

std::uint16_t port_of(const Socket& socket);

// Nothing when there is no connection to be had before the deadline, with the reason in `why`.
std::optional<Socket> connect_to(const Endpoint& endpoint, Clock::time_point deadline,
                                 std::string& why);

// How many bytes could be moved without waiting; nothing when the connection is gone.
std::optional<std::size_t> read_some(const Socket& socket, MutableBytes into);
std::optional<std::size_t> write_some(const Socket& socket, Bytes from);

// All of it, or false when the connection is gone or the deadline passes.
bool read_all(const Socket& socket, MutableBytes into, Clock::time_point deadline);
bool write_all(const Socket& socket, Bytes from, Clock::time_point deadline);

// Milliseconds until then as poll() takes them, rounded up.
int poll_time(Clock::time_point deadline);

}  // namespace narrowcast::rendezvous
