#pragma once

#include "collective/collective.hpp"

// What `auto` goes by, for those who choose among algorithms without running them.
namespace narrowcast {

// Of one rank: its phases one after the other, in each of which wire and codec overlap.
double cost_us(const Traffic& traffic, const LinkCost& cost);

// Of an earlier row's time, what another must stay below to be chosen: estimates are no better than
// this, and the ring rounds once for every rank.
inline constexpr double kClearlyQuicker = 0.95;

}  // namespace narrowcast
