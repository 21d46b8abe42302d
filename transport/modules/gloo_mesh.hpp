#pragma once

#include <gloo/context.h>

#include <array>
#include <map>
#include <memory>
#include <string>

#include "transport/join.hpp"
#include "transport/rendezvous.hpp"

namespace narrowcast::over_gloo {

// Random bytes of rank 0's, by which ranks of one run know each other.
using Token = std::array<std::byte, 16>;

struct Mesh {
  std::shared_ptr<gloo::Context> context;  // connected to all but those that follow
  Token token = {};
  std::map<int, std::string> unreached;  // by rank: why
};

class Board;

// Connects every rank with every other. Those that do not come by the deadline are Fault::peer,
// named. One that came and then cannot be connected to is no error yet: if this rank left because of
// it, those that it is connected to would take this one for dead, and not know of the other.
Mesh connect_mesh(const Joining& joining, Board& board, Clock::time_point deadline);

}  // namespace narrowcast::over_gloo
