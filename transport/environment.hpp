#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "transport/join.hpp"

// Which rank of how many this process was started as, and by whom.
namespace narrowcast {

enum class Launcher { none, own, torchrun, open_mpi, mpich, slurm };

std::string_view name_of(Launcher launcher);

struct Launch {
  Launcher launcher = Launcher::none;
  Place place;
  std::string transport;           // what fits this launcher; empty when there is none
  std::string rendezvous;          // as Joining has it; empty where the transport needs none
  std::filesystem::path key_file;  // $NARROWCAST_KEY_FILE; empty when not set
};

// The value of a variable, or nothing when it is not set.
using Variables = std::function<std::optional<std::string>(std::string_view name)>;

// The variables of this process.
std::optional<std::string> environment_variable(std::string_view name);

// Looks for narrowcast's own launcher first, then Open MPI, MPICH, torchrun, Slurm. Numbers that
// are none, ranks beyond the size and launchers that say half are Fault::usage, naming the
// variable.
Launch read_launch(const Variables& variables);

// A job key: a file of 64 hexadecimal digits or of 32 bytes that is this user's, or root's, and open
// to nobody else; anything else is Fault::usage. No error repeats a key.
JobKey read_job_key(const std::filesystem::path& file);

}  // namespace narrowcast
