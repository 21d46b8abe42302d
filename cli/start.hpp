#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.hpp"
#include "run/hosts.hpp"

// Starts this very command again, as ranks that are processes.
namespace narrowcast::cli {

// Where rank 0 of processes that were started here finds the terminal to show its progress on.
inline constexpr std::string_view kProgressVariable = "NARROWCAST_PROGRESS";

// Set where ranks are started again after some of them died: how often that has happened.
inline constexpr std::string_view kRestartVariable = "NARROWCAST_RESTART";

// How ranks that we start are looked after.
struct Care {
  int restarts = 0;  // start all of them again, so often, when one has died
  // Told of each death that is followed by a restart: "rank 1 died of signal 9 (Killed)".
  std::function<void(int restart, const std::string& why)> on_death = {};
  // For ranks to finish what they are at when the job is interrupted.
  std::chrono::milliseconds farewell = std::chrono::milliseconds(1500);
};

// On this machine. Returns when all ranks have ended well; otherwise throws JobEnded, or
// Fault::peer when none of them could say what was wrong.
void start_workers(int ranks, const std::string& transport, const Console& console,
                   const Care& care);

// On those hosts, by `$NARROWCAST_RSH ADDRESS env RANK=... narrowcast ...`. They meet at the first.
void start_on_hosts(const std::vector<Host>& hosts, const Console& console, const Care& care);

}  // namespace narrowcast::cli
