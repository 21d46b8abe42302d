#include "transport/mpi.hpp"

#include <fmt/core.h>

#include <charconv>

#include "base/error.hpp"

namespace narrowcast {
namespace {

constexpr Module kOpenMpi = {.name = "openmpi", .package = "libopenmpi-dev"};
constexpr Module kMpich = {.name = "mpich", .package = "libmpich-dev"};

int number(const Variables& variables, std::string_view name) {
  const std::string text = variables(name).value_or("");
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1)
    throw Error(Fault::usage, fmt::format("{} is '{}', which is no number of ranks", name, text));
  return value;
}

}  // namespace

MpiChoice choose_mpi(const Variables& variables) {
  const auto set = [&](std::string_view name) { return variables(name).has_value(); };
  // mpirun inside a Slurm job sees Slurm's variables as well: its own come first.
  if (set("OMPI_COMM_WORLD_SIZE")) return {kOpenMpi, number(variables, "OMPI_COMM_WORLD_SIZE")};
  if (set("PMI_SIZE")) return {kMpich, number(variables, "PMI_SIZE")};
  if (set("SLURM_NTASKS") && set("PMIX_RANK")) return {kOpenMpi, number(variables, "SLURM_NTASKS")};
  if (set("SLURM_NTASKS") && set("PMI_RANK")) return {kMpich, number(variables, "SLURM_NTASKS")};
  throw Error(Fault::usage, "mpi needs a launcher: start it with mpirun or srun");
}

std::unique_ptr<Transport> join_mpi(const Joining& joining) {
  const MpiChoice choice = choose_mpi(environment_variable);
  std::unique_ptr<Transport> net = join_module(choice.module, joining);
  // Under another MPI's launcher every process is a job of its own, and none of them notices.
  if (net->size() != choice.ranks)
    throw Error(Fault::usage,
                fmt::format("the launcher started {} ranks, but {} sees {}: is this mpirun of "
                            "another MPI?",
                            choice.ranks, choice.module.name, net->size()));
  return net;
}

}  // namespace narrowcast
