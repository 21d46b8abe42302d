#include "transport/environment.hpp"

#include <fmt/core.h>

#include <charconv>
#include <cstdint>
#include <cstdlib>

#include "base/error.hpp"

namespace narrowcast {
namespace {

constexpr int kMostRanks = 1 << 20;
constexpr int kLastPort = 65535;

// The names under which a launcher says where a rank stands. `local_*` may be empty.
struct Names {
  std::string_view rank;
  std::string_view size;
  std::string_view local_rank;
  std::string_view local_size;
};

constexpr Names kTorchrun = {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"};
constexpr Names kOpenMpi = {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
                            "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"};
constexpr Names kMpich = {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"};
// How many there are of a node is in kSlurmTasks.
constexpr Names kSlurm = {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", ""};
constexpr std::string_view kSlurmTasks = "SLURM_TASKS_PER_NODE";

struct Range {
  int least;
  int most;
};

std::optional<int> number(const Variables& variables, std::string_view name, Range range) {
  if (name.empty()) return std::nullopt;
  const std::optional<std::string> text = variables(name);
  if (!text) return std::nullopt;
  int value = 0;
  const char* const end = text->data() + text->size();
  const auto [stopped, error] = std::from_chars(text->data(), end, value);
  if (error != std::errc() || stopped != end || value < range.least || value > range.most)
    throw Error(Fault::usage, fmt::format("{} is '{}': a number from {} to {} was expected", name,
                                          *text, range.least, range.most));
  return value;
}

int needed(const Variables& variables, std::string_view name, Range range) {
  const std::optional<int> value = number(variables, name, range);
  if (!value) throw Error(Fault::usage, fmt::format("{} is not set", name));
  return *value;
}

// From the front of `text`, which it shortens.
std::optional<int> leading_number(std::string_view& text) {
  int value = 0;
  const auto [stopped, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value < 1 || value > kMostRanks) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(stopped - text.data()));
  return value;
}

// Slurm lists the tasks of each node, like "2(x3),1". Which entry is ours it does not say, so only
// a list of one entry helps, and only one of as many tasks as were started here: the variable may
// also be that of the allocation.
std::optional<int> slurm_local_size(const Variables& variables, int size) {
  const std::optional<std::string> list = variables(kSlurmTasks);
  if (!list) return std::nullopt;
  std::string_view text = *list;
  const std::optional<int> tasks = leading_number(text);
  std::optional<int> nodes = 1;
  if (text.starts_with("(x") && text.ends_with(")")) {
    text = text.substr(2, text.size() - 3);
    nodes = leading_number(text);
  }
  const bool fits = tasks && nodes && text.empty() && std::int64_t{*tasks} * *nodes == size;
  return fits ? tasks : std::nullopt;
}

// Where nobody says how many ranks this machine has, it has at least those up to this one.
Place place_of(const Variables& variables, const Names& names) {
  Place place;
  place.size = needed(variables, names.size, {1, kMostRanks});
  place.rank = needed(variables, names.rank, {0, place.size - 1});
  const std::optional<int> local_size = names.local_size.empty()
                                            ? slurm_local_size(variables, place.size)
                                            : number(variables, names.local_size, {1, place.size});
  const int most = local_size.value_or(place.size) - 1;
  place.local_rank = number(variables, names.local_rank, {0, most}).value_or(0);
  place.local_size = local_size.value_or(place.local_rank + 1);
  return place;
}

std::string needed_text(const Variables& variables, std::string_view name) {
  std::optional<std::string> text = variables(name);
  if (!text || text->empty()) throw Error(Fault::usage, fmt::format("{} is not set", name));
  return *std::move(text);
}

// MASTER_PORT belongs to torchrun's own agent; ours is the next one unless it is given.
std::string torchrun_rendezvous(const Variables& variables) {
  const std::string host = needed_text(variables, "MASTER_ADDR");
  std::optional<int> port = number(variables, "NARROWCAST_PORT", {1, kLastPort});
  if (!port) port = needed(variables, "MASTER_PORT", {1, kLastPort - 1}) + 1;
  const bool bare_v6 = host.find(':') != std::string::npos && host.front() != '[';
  return fmt::format("tcp://{}:{}", bare_v6 ? '[' + host + ']' : host, *port);
}

Launch with(const Variables& variables, Launcher launcher, const Names& names,
            std::string_view transport) {
  return {.launcher = launcher,
          .place = place_of(variables, names),
          .transport = std::string(transport),
          .rendezvous = {},
          .key_file = {}};
}

Launch own_launch(const Variables& variables) {
  Launch launch =
      with(variables, Launcher::own, kTorchrun, needed_text(variables, "NARROWCAST_TRANSPORT"));
  launch.rendezvous = needed_text(variables, "NARROWCAST_RENDEZVOUS");
  return launch;
}

Launch torchrun_launch(const Variables& variables) {
  Launch launch = with(variables, Launcher::torchrun, kTorchrun, "gloo");
  if (launch.place.size > 1) launch.rendezvous = torchrun_rendezvous(variables);
  return launch;
}

Launch launched_by(const Variables& variables) {
  const auto has = [&](std::string_view name) { return variables(name).has_value(); };
  if (has("NARROWCAST_RENDEZVOUS")) return own_launch(variables);
  if (has(kOpenMpi.size)) return with(variables, Launcher::open_mpi, kOpenMpi, "mpi");
  if (has(kMpich.size)) return with(variables, Launcher::mpich, kMpich, "mpi");
  if (has(kTorchrun.size) && has(kTorchrun.rank)) return torchrun_launch(variables);
  // SLURM_NTASKS alone is also set in the shell of an allocation, where nothing was started yet.
  if (has(kSlurm.size) && has(kSlurm.rank)) return with(variables, Launcher::slurm, kSlurm, "mpi");
  return {};
}

}  // namespace

std::string_view name_of(Launcher launcher) {
  switch (launcher) {
    case Launcher::none:
      return "none";
    case Launcher::own:
      return "narrowcast";
    case Launcher::torchrun:
      return "torchrun";
    case Launcher::open_mpi:
      return "Open MPI";
    case Launcher::mpich:
      return "MPICH";
    case Launcher::slurm:
      return "Slurm";
  }
  return "none";
}

std::optional<std::string> environment_variable(std::string_view name) {
  const char* const value = std::getenv(std::string(name).c_str());
  if (value == nullptr) return std::nullopt;
  return value;
}

Launch read_launch(const Variables& variables) {
  Launch launch = launched_by(variables);
  launch.key_file = variables("NARROWCAST_KEY_FILE").value_or("");
  return launch;
}

}  // namespace narrowcast
