#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "transport/transport.hpp"

// Ranks as threads of the test.
namespace narrowcast::test {

// Connects one rank. Called once for each, from its own thread, all at the same time; it keeps
// alive what the ranks share.
using Connect = std::function<std::unique_ptr<Transport>(int rank)>;

// A way to have several ranks inside one process.
struct RanksRow {
  std::string_view name;
  Connect (*meet)(int ranks, std::chrono::milliseconds timeout);
};

// Every transport that can have its ranks in one process: contract suites run over this list.
std::span<const RanksRow> every_ranks();

const RanksRow& ranks_row(std::string_view name);

// Long enough for any test under any sanitizer, short enough that a hang becomes a failure.
inline constexpr std::chrono::milliseconds kTestTimeout = std::chrono::seconds(30);

// Calls body(transport) on every rank, each in its own thread. A rank leaves when its body ends.
// Rethrows the error that came first.
void on_ranks(const Connect& connect, int ranks, const std::function<void(Transport&)>& body);
void on_ranks(const RanksRow& row, int ranks, const std::function<void(Transport&)>& body);
void on_ranks(int ranks, const std::function<void(Transport&)>& body);  // inproc

}  // namespace narrowcast::test
