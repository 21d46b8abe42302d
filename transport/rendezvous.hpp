#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "transport/join.hpp"

// Where ranks that know nothing of each other yet leave their addresses: a few keys with values,
// served over TCP by rank 0. Both ends prove that they have the job key, where there is one.
namespace narrowcast {

enum class Meeting { tcp, file, redis };

// A parsed Joining::rendezvous.
struct MeetingPlace {
  Meeting kind = Meeting::tcp;
  std::string host;  // tcp, redis; without the brackets of an IPv6 address
  std::uint16_t port = 0;
  std::string path;  // file: the folder; redis: what keys begin with
};

// "tcp://host:port", "file:///folder" or "redis://host:port[/name]"; anything else is Fault::usage.
MeetingPlace parse_meeting_place(std::string_view text);

struct RendezvousOptions {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;  // 0: the server takes a free one
  int ranks = 1;           // bounds what the server keeps and whom it listens to
  std::optional<JobKey> key = std::nullopt;
  int listening = -1;  // a listening socket to take over instead of binding one
  // Within which a new connection shows the server that it is a rank's.
  std::chrono::milliseconds proof_time = std::chrono::seconds(10);
};

// Serves in a thread of its own until it is destroyed. Whoever sends what makes no sense, has
// another key, or is slow about showing that it has this one is hung up on, and nobody else notices.
class RendezvousServer {
 public:
  // Binds host:port: exactly that address when it is one, all interfaces when it is a name, which
  // may mean another address on other machines. Fault::system names what cannot be bound.
  explicit RendezvousServer(const RendezvousOptions& options);
  ~RendezvousServer();
  RendezvousServer(const RendezvousServer&) = delete;
  RendezvousServer& operator=(const RendezvousServer&) = delete;

  std::uint16_t port() const;

 private:
  class Serving;
  std::unique_ptr<Serving> serving_;
};

using Clock = std::chrono::steady_clock;
using Blob = std::vector<std::byte>;

// One rank's connection to the server. Not for several threads at once.
class RendezvousClient {
 public:
  // Tries until the deadline, because rank 0 may start later. Fault::peer when nobody answers, or
  // when the job keys differ.
  RendezvousClient(const RendezvousOptions& options, Clock::time_point deadline);
  ~RendezvousClient();
  RendezvousClient(const RendezvousClient&) = delete;
  RendezvousClient& operator=(const RendezvousClient&) = delete;

  // Fault::usage when the key has a value already, or the server takes no more.
  void set(std::string_view key, Bytes value);

  // Waits for the value until the deadline; nothing when it has not come by then. A server that
  // does not answer is Fault::peer.
  std::optional<Blob> get(std::string_view key, Clock::time_point deadline);

 private:
  class Connection;
  std::unique_ptr<Connection> connection_;
};

}  // namespace narrowcast
