#pragma once

#include <gloo/context.h>

#include <array>
#include <memory>

#include "transport/join.hpp"
#include "transport/rendezvous.hpp"

namespace narrowcast::over_gloo {

// Random bytes of rank 0's, by which ranks of one run know each other.
using Token = std::array<std::byte, 16>;

struct Mesh {
  std::shared_ptr<gloo::Context> context;  // connected to all
  Token token = {};
};

class Board;

// Connects every rank with every other. Those that do not come by the deadline are Fault::peer,
// named.
Mesh connect_mesh(const Joining& joining, Board& board, Clock::time_point deadline);

}  // namespace narrowcast::over_gloo
