#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <sstream>

#include "base/error.hpp"
#include "data/data.hpp"
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

void check_room(const StudyFolder& folder) {
  std::error_code error;
  const fs::space_info space = fs::space(folder.path(), error);
  if (!error && space.available < kLeastRoom)
    throw Error(Fault::system,
                fmt::format("{} has {} MB of room left, and a study wants {} MB",
                            folder.path().string(), space.available >> 20U, kLeastRoom >> 20U));
}

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
    const bool trains = cell.kind == "train" || cell.kind == "speed";
    const bool calibrates = cell.kind == "predict" && cell.at("profile") == "here";
    if (trains || calibrates) once("trainer", require_trainer);
    if (trains) look_at_data(cell);
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
      for (const Host& host : read_hosts(file))
        once("host " + host.address, [&] { check_host(host); });
  }

 private:
  template <class Function>
  void once(const std::string& what, Function function) {
    if (seen_.insert(what).second) function();
  }

  void look_at_data(const Cell& cell) {
    const std::string data(cell.at("data"));
    const std::string folder = setting_or(cell, "data_folder", "");
    if (data == "synthetic") return;
    once("data " + data + " " + folder, [&] { open_data({.what = data, .folder = folder}); });
  }

  std::set<std::string> seen_;
};

}  // namespace

void check_surroundings(const Study& study, const StudyFolder& folder) {
  check_room(folder);
  Inspection inspection;
  for (const Cell& cell : study.cells)
    if (!folder.has(id_of(cell))) inspection.look_at(cell);
}

}  // namespace narrowcast
