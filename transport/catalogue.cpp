#include <fmt/core.h>

#include "base/error.hpp"
#include "transport/join.hpp"

namespace narrowcast {

std::unique_ptr<Transport> join_shm(const Joining& joining);
std::unique_ptr<Transport> join_gloo(const Joining& joining);
std::unique_ptr<Transport> join_mpi(const Joining& joining);

namespace {

std::unique_ptr<Transport> join_inproc(const Joining& /*joining*/) {
  throw Error(Fault::usage,
              "inproc joins threads of one program (transport/inproc.hpp); for processes take shm, "
              "gloo or mpi");
}

}  // namespace

std::span<const TransportRow> transports() {
  static constexpr TransportRow kRows[] = {
      {"inproc", "ranks are threads of one program: tests and examples", join_inproc},
      {"shm", "ranks are processes of one machine, over shared memory", join_shm},
      {"gloo", "TCP between machines, through Gloo", join_gloo},
      {"mpi", "Open MPI or MPICH, started by mpirun or srun", join_mpi},
  };
  return kRows;
}

const TransportRow& transport_row(std::string_view name) {
  std::string names;
  for (const TransportRow& row : transports()) {
    if (row.name == name) return row;
    names += names.empty() ? "" : ", ";
    names += row.name;
  }
  throw Error(Fault::usage, fmt::format("there is no transport '{}': {}", name, names));
}

}  // namespace narrowcast
