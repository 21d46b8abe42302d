#include "cli/start.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "base/error.hpp"
#include "base/quoted.hpp"
#include "cli/ranks.hpp"
#include "transport/rendezvous_socket.hpp"
#include "transport/shm.hpp"
#include "transport/workers.hpp"

namespace narrowcast::cli {
namespace {

constexpr std::string_view kLoopback = "127.0.0.1";
constexpr std::string_view kUsualPort = "29500";  // torchrun's

// What a login does not bring along.
constexpr const char* kForwarded[] = {"NARROWCAST_PORT", "NARROWCAST_TARGET", "GLOO_SOCKET_IFNAME"};
constexpr const char* kForwardedPaths[] = {"NARROWCAST_KEY_FILE", "NARROWCAST_MODULES",
                                           "NARROWCAST_DATA"};
// Settings of commands.
constexpr std::string_view kForwardedBeginnings[] = {"NARROWCAST_TRAIN_", "NARROWCAST_PLAN_"};

// A descriptor for rank 0 of the terminal that standard error is.
class Terminal {
 public:
  explicit Terminal(const Console& console)
      : fd_(console.terminals.err ? fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0) : -1) {}
  ~Terminal() {
    if (fd_ >= 0) close(fd_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  void hand_to(Extras& rank) const {
    if (fd_ < 0) return;
    rank.descriptors.push_back(fd_);
    rank.environment.emplace_back(kProgressVariable, fmt::format("/proc/self/fd/{}", fd_));
  }

 private:
  int fd_;
};

std::string death_of(int rank, int signal) {
  return fmt::format("rank {} died of signal {} ({})", rank, signal, sigdescr_np(signal));
}

// Those that ended by themselves have said why; those that were killed could not.
void judge(const Outcome& outcome) {
  if (!outcome.interrupted && !outcome.first_failed()) return;
  for (const Ending& ending : outcome.endings)
    if (outcome.interrupted || ending.code != 0) throw JobEnded{outcome.exit_code()};
  const int rank = *outcome.first_failed();
  throw Error(Fault::peer, death_of(rank, *outcome.endings[static_cast<std::size_t>(rank)].signal));
}

// Whether the same again may end better: bad words, bad bytes and full disks stay what they are.
bool is_worth_another_try(const Outcome& outcome) {
  constexpr int kPeer = 4;
  return !outcome.interrupted && outcome.first_failed() && outcome.exit_code() == kPeer;
}

// Who was killed, if somebody was; else who gave up first.
std::string why_of(const Outcome& outcome) {
  for (const int rank : outcome.order)
    if (const auto signal = outcome.endings[static_cast<std::size_t>(rank)].signal)
      return death_of(rank, *signal);
  return fmt::format("rank {} gave up", *outcome.first_failed());
}

// `staff`: for every start anew, since ranks meet at a place of their own each time.
void start(const std::function<Outcome(const Extras&)>& staff, const Console& console,
           const Care& care) {
  console.out.flush();
  for (int restart = 0;; ++restart) {
    Extras extras;
    if (restart > 0) extras.environment.emplace_back(kRestartVariable, std::to_string(restart));
    const Outcome outcome = staff(extras);
    if (restart >= care.restarts || !is_worth_another_try(outcome)) return judge(outcome);
    if (care.on_death) care.on_death(restart + 1, why_of(outcome));
  }
}

Outcome carry_out(Staffing staffing, const Extras& extras, const Console& console,
                  const Care& care) {
  const Terminal terminal(console);
  terminal.hand_to(staffing.rank0);
  staffing.farewell = care.farewell;
  Extras& everyone = staffing.everyone;
  everyone.environment.insert(everyone.environment.end(), extras.environment.begin(),
                              extras.environment.end());
  return Workers(staffing).wait();
}

// A login starts in a folder of its own. An empty path means that there is none.
std::string from_anywhere(const std::string& path) {
  return path.empty() ? path : std::filesystem::absolute(path).string();
}

// Options that name files: these are looked for where this command was started, on every host.
constexpr std::array<std::string_view, 8> kFileOptions{
    "--key-file", "--config", "--plan", "--checkpoint", "--weights", "--output", "-o", "--hosts"};

// Of the command, with what follows as its value. A data set may be a file's name or its own.
bool takes_a_file(const std::string& option, const std::vector<std::string>& words) {
  if (option == "--json" || option == "--data") return words.front() == "train";
  return std::ranges::find(kFileOptions, option) != kFileOptions.end();
}

std::string there(const std::string& option, const std::string& value) {
  const bool is_file = value != "-" && (option != "--data" || std::filesystem::exists(value));
  return is_file ? from_anywhere(value) : value;
}

// There, a rank is told its place and must not start others.
std::vector<std::string> words_there(const std::vector<std::string>& words) {
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string name = words[i].substr(0, words[i].find('='));
    if (!takes_a_file(name, words)) {
      kept.push_back(words[i]);
      continue;
    }
    const std::string value =
        name.size() < words[i].size() ? words[i].substr(name.size() + 1) : words.at(++i);
    if (name == "--hosts") continue;
    kept.push_back(name);
    kept.push_back(there(name, value));
  }
  return kept;
}

// NAME=value of every variable that has a say in how a command runs there, as a shell reads it.
std::vector<std::string> settings_of_environment() {
  std::vector<std::string> settings;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view variable(*entry);
    for (const std::string_view beginning : kForwardedBeginnings) {
      const std::size_t equals = variable.find('=');
      if (!variable.starts_with(beginning) || equals == std::string_view::npos) continue;
      // All of it: a name may hold anything that is no equals sign, and a shell reads this there.
      settings.push_back(quoted(std::string(variable)));
    }
  }
  return settings;
}

std::vector<std::string> split_blanks(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

struct Seat {
  const Host& host;
  int local_rank;
};

std::vector<Seat> seats_on(const std::vector<Host>& hosts) {
  std::vector<Seat> seats;
  for (const Host& host : hosts)
    for (int slot = 0; slot < host.slots; ++slot) seats.push_back({host, slot});
  return seats;
}

// Without what precedes an '@', which is whom to log in as.
std::string meeting_address(const std::string& address) {
  return address.substr(address.find('@') + 1);
}

}  // namespace

void start_workers(int ranks, const std::string& transport, const Console& console,
                   const Care& care) {
  const auto staff = [&](const Extras& extras) {
    Staffing staffing;
    staffing.ranks = ranks;
    staffing.words = console.words;
    staffing.transport = transport;
    if (transport == "shm") {
      const ShmSegment segment(ranks);
      staffing.rendezvous = segment.rendezvous();
      staffing.everyone.descriptors = {segment.fd()};
      return carry_out(std::move(staffing), extras, console, care);
    }
    // Bound here, so that no other program can take the port before rank 0 listens.
    const rendezvous::Socket listening = rendezvous::listen_at({std::string(kLoopback), 0});
    staffing.rendezvous = fmt::format("tcp://{}:{}", kLoopback, rendezvous::port_of(listening));
    staffing.rank0.descriptors = {listening.fd()};
    staffing.rank0.environment = {{"NARROWCAST_LISTEN_FD", std::to_string(listening.fd())}};
    return carry_out(std::move(staffing), extras, console, care);
  };
  start(staff, console, care);
}

void start_on_hosts(const std::vector<Host>& hosts, const Console& console, const Care& care) {
  const std::vector<Seat> seats = seats_on(hosts);
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::vector<std::string> agent =
      split_blanks(environment_variable("NARROWCAST_RSH").value_or("ssh"));
  require(!agent.empty(), Fault::usage, "NARROWCAST_RSH is empty; leave it out for ssh");
  const std::string port = environment_variable("MASTER_PORT").value_or(std::string(kUsualPort));

  const auto words_of = [&](int rank, const Extras& extras) {
    const Seat& seat = seats[static_cast<std::size_t>(rank)];
    std::vector<std::string> words = agent;
    words.insert(
        words.end(),
        {seat.host.address, "env", "-u", "NARROWCAST_TRANSPORT", "-u", "NARROWCAST_RENDEZVOUS",
         fmt::format("RANK={}", rank), fmt::format("WORLD_SIZE={}", seats.size()),
         fmt::format("LOCAL_RANK={}", seat.local_rank),
         fmt::format("LOCAL_WORLD_SIZE={}", seat.host.slots),
         "MASTER_ADDR=" + meeting_address(hosts.front().address), "MASTER_PORT=" + quoted(port)});
    for (const char* name : kForwarded)
      if (const auto value = environment_variable(name))
        words.push_back(fmt::format("{}={}", name, quoted(*value)));
    for (const char* name : kForwardedPaths)
      if (const auto value = environment_variable(name))
        words.push_back(fmt::format("{}={}", name, quoted(from_anywhere(*value))));
    for (const std::string& setting : settings_of_environment()) words.push_back(setting);
    for (const auto& [name, value] : extras.environment)
      words.push_back(fmt::format("{}={}", name, quoted(value)));
    words.push_back(quoted(program));
    for (const std::string& word : words_there(console.words)) words.push_back(quoted(word));
    return words;
  };
  const auto staff = [&](const Extras& extras) {
    Staffing staffing;
    staffing.ranks = static_cast<int>(seats.size());
    staffing.program = "/usr/bin/env";  // finds the agent in PATH
    staffing.words_of = [&](int rank) { return words_of(rank, extras); };
    return carry_out(std::move(staffing), extras, console, care);
  };
  start(staff, console, care);
}

}  // namespace narrowcast::cli
