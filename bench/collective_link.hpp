#pragma once

#include "base/team.hpp"
#include "bench/collective_control.hpp"
#include "codec/codec.hpp"
#include "collective/collective.hpp"

namespace narrowcast::bench {

// Figures of rank 0, the same on all ranks: pings to a rank of its own machine and to one of
// another, and the speed of the codec. Where there are no ranks of one kind, its figures are those
// of the other. The first `local_ranks` ranks are on rank 0's machine.
LinkCost measure_link(Control& control, int local_ranks, const Codec& codec, Team& team);

}  // namespace narrowcast::bench
