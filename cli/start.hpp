#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/command.hpp"
#include "cli/hosts.hpp"

// Starts this very command again, as ranks that are processes.
namespace narrowcast::cli {

// Where rank 0 of processes that were started here finds the terminal to show its progress on.
inline constexpr std::string_view kProgressVariable = "NARROWCAST_PROGRESS";

// On this machine. Returns when all ranks have ended well; otherwise throws JobEnded, or
// Fault::peer when none of them could say what was wrong.
void start_workers(int ranks, const std::string& transport, const Console& console);

// On those hosts, by `$NARROWCAST_RSH ADDRESS env RANK=... narrowcast ...`. They meet at the first.
void start_on_hosts(const std::vector<Host>& hosts, const Console& console);

}  // namespace narrowcast::cli
