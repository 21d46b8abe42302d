#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "transport/transport.hpp"

// How a process becomes one of the ranks.
namespace narrowcast {

// Which rank of how many this process is.
struct Place {
  int rank = 0;
  int size = 1;
  int local_rank = 0;  // among the ranks of this machine
  int local_size = 1;
};

// The key of a job: 32 bytes that every rank was given and nobody else has.
using JobKey = std::array<std::byte, 32>;

enum class Secrecy { authentic, encrypted };  // what a job key is used for

struct Joining {
  Place place;
  // Where the ranks meet: "tcp://host:port", "file:///folder", "redis://host:port" for gloo,
  // "fd:N" (a shared memory segment inherited from the launcher) for shm; mpi needs none.
  std::string rendezvous;
  std::chrono::milliseconds timeout = kDefaultTimeout;
  std::optional<JobKey> key;
  Secrecy secrecy = Secrecy::authentic;
};

// A transport exists when it has a row in transport/catalogue.cpp.
struct TransportRow {
  std::string_view name;
  std::string_view summary;
  // Connects this process to all others, within the timeout. What is not installed is refused with
  // the package to install.
  std::unique_ptr<Transport> (*join)(const Joining&);
};

std::span<const TransportRow> transports();

// The row of that name; Fault::usage lists the names there are.
const TransportRow& transport_row(std::string_view name);

}  // namespace narrowcast
