#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <sstream>

#include "base/error.hpp"
#include "data/data.hpp"
#include "plan/counts.hpp"
#include "run/hosts.hpp"
#include "run/trainer.hpp"
#include "study/kinds/words.hpp"
#include "study/process.hpp"
#include "study/runner.hpp"
#include "transport/module.hpp"

namespace narrowcast {

namespace fs = std::filesystem;

namespace {

constexpr std::uintmax_t kLeastRoom = 64U << 20U;
constexpr auto kAnswer = std::chrono::seconds(15);

std::vector<std::string> split(const std::string& text, char at) {
  std::istringstream in(text);
  std::vector<std::string> parts;
  for (std::string part; std::getline(in, part, at);)
    if (!part.empty()) parts.push_back(part);
  return parts;
}

std::string variable_or(const char* name, const char* usual) {
  const char* value = std::getenv(name);
  return value == nullptr ? usual : value;
}

bool is_program(const std::string& word) {
  if (word.find('/') != std::string::npos) return access(word.c_str(), X_OK) == 0;
  return std::ranges::any_of(split(variable_or("PATH", ""), ':'), [&](const std::string& folder) {
    return access((fs::path(folder) / word).c_str(), X_OK) == 0;
  });
}

// The folder, or what is there of its path.
fs::path part_there(const fs::path& folder) {
  std::error_code ignored;
  fs::path part = fs::absolute(folder);
  while (!fs::exists(part, ignored) && part.has_relative_path()) part = part.parent_path();
  return part;
}

}  // namespace

void check_room(const fs::path& folder) {
  const fs::path there = part_there(folder);
  // As a folder, which a file is not.
  if (access((there / "").c_str(), W_OK | X_OK) != 0)
    throw Error(Fault::system,
                fmt::format("{} cannot be made: {}", folder.string(), std::strerror(errno)));
  std::error_code error;
  const fs::space_info space = fs::space(there, error);
  if (!error && space.available < kLeastRoom)
    throw Error(Fault::system,
                fmt::format("{} has {} MB of room left, and a study wants {} MB", there.string(),
                            space.available >> 20U, kLeastRoom >> 20U));
}

namespace {

// Asks the host to do nothing.
void check_host(const Host& host) {
  std::vector<std::string> words = split(variable_or("NARROWCAST_RSH", "ssh"), ' ');
  words.insert(words.end(), {host.address, "true"});
  const ProcessEnd end =
      run_process({.words = words, .output = "/dev/null", .deadline = kAnswer}, StopSignals());
  if (end.interrupted) throw Error(Fault::peer, "interrupted");
  if (end.failed())
    throw Error(Fault::peer,
                fmt::format("host {} does not answer to '{}'{}", host.address,
                            fmt::format("{} {} true", words.front(), host.address),
                            end.late ? fmt::format(" within {} s", kAnswer.count()) : ""));
}

// Each thing once, however many cells need it.
class Inspection {
 public:
  void look_at(const Cell& cell) {
    if (is_computed(cell)) return;
    const bool trains = cell.kind == "train" || cell.kind == "speed";
    const bool calibrates = cell.kind == "predict" && cell.at("profile") == "here";
    if (trains || calibrates) once("trainer", require_trainer);
    if (trains) look_at_data(cell);
    if (cell.kind == "transfer") look_at_memory(cell);
    if (const std::string_view transport = cell.at("transport"); transport == "gloo")
      once("gloo", [] {
        if (find_module("gloo").empty())
          throw Error(Fault::usage,
                      fmt::format("gloo is not installed: apt-get install libgloo-dev, then {}",
                                  how_to_build()));
      });
    const std::vector<std::string> launcher = launcher_of(cell);
    if (!launcher.empty())
      once("launcher " + launcher.front(), [&] {
        if (!is_program(launcher.front()))
          throw Error(Fault::usage, fmt::format("{}: there is no program '{}' to start it with",
                                                name_of(cell), launcher.front()));
      });
    if (const std::string file = setting_or(cell, kHosts, ""); !file.empty())
      look_at_hosts(cell, read_hosts(file));
  }

 private:
  // Of this machine, where the ranks are not elsewhere: both have the matrix.
  static void look_at_memory(const Cell& cell) {
    if (!launcher_of(cell).empty() || !setting_or(cell, kHosts, "").empty()) return;
    const auto pages = static_cast<double>(sysconf(_SC_PHYS_PAGES));
    const double bytes = pages * static_cast<double>(sysconf(_SC_PAGESIZE));
    if (2 * static_cast<double>(parse_count(cell.at("size"))) > bytes)
      throw Error(Fault::system, fmt::format("{}: this machine has {:.0f} GB of memory",
                                             name_of(cell), bytes / 1e9));
  }

  void look_at_hosts(const Cell& cell, const std::vector<Host>& hosts) {
    const int workers = workers_of(cell);
    if (ranks_on(hosts) != workers)
      throw Error(Fault::usage, fmt::format("{}: its hosts are for {} workers, not {}",
                                            name_of(cell), ranks_on(hosts), workers));
    for (const Host& host : hosts) once("host " + host.address, [&] { check_host(host); });
  }

  template <class Function>
  void once(const std::string& what, Function function) {
    if (seen_.insert(what).second) function();
  }

  void look_at_data(const Cell& cell) {
    const std::string data(cell.at("data"));
    const std::string folder = setting_or(cell, "data_folder", "");
    if (data == "synthetic") return;
    const std::string what = data + " " + folder;
    once("data " + what,
         [&] { images_[what] = open_data({.what = data, .folder = folder}).train->size(); });
    const Run run = resolve_run(run_settings(cell));
    const auto step = static_cast<std::size_t>(run.batch) *
                      static_cast<std::size_t>(run.accumulate) *
                      static_cast<std::size_t>(workers_of(cell));
    if (step > images_[what])
      throw Error(Fault::usage, fmt::format("{}: {} has {} images, fewer than the {} of one step",
                                            name_of(cell), data, images_[what], step));
  }

  std::set<std::string> seen_;
  std::map<std::string, std::size_t> images_;  // to train with, by data set
};

}  // namespace

void check_surroundings(std::span<const Cell> cells, const fs::path& folder) {
  check_room(folder);
  Inspection inspection;
  for (const Cell& cell : cells) inspection.look_at(cell);
}

}  // namespace narrowcast
