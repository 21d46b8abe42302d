#pragma once

#include "collective/collective.hpp"

// What is wrong with the pieces of a call: Fault::usage.
namespace narrowcast {

void check_pieces(Pieces pieces);
// One for each rank.
void check_parts(Pieces parts, int ranks);

}  // namespace narrowcast
