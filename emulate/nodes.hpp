#pragma once

#include <cstdint>
#include <span>

#include "base/bytes.hpp"
#include "base/team.hpp"
#include "codec/codec.hpp"
#include "codec/scale.hpp"
#include "emulate/gemm.hpp"

// The sum of many nodes' gradients as an all-reduce would leave it, in one process: docs/emulate.md.
namespace narrowcast {

// In which order shares are added. The ring begins at another node for each shard of the values, the
// hierarchy adds up groups of neighbours first; one group of all is the order of the nodes.
enum class Order { ring, hierarchy };

struct NodeSum {
  const Codec* codec = nullptr;  // what shares and partial sums are rounded to
  Order order = Order::hierarchy;
  int group = 0;  // nodes in a group of the hierarchy; 0: all of them
  Compensation compensation = Compensation::none;
  Scaling scaling = Scaling::none;
  std::uint64_t seed = 0;
  std::uint64_t step = 0;
  std::uint64_t tensor = 0;  // whose dice are thrown, and where the ring's shards begin
};

// sum = the sum of all nodes' values, with the bits that collective/ leaves on every rank where sums
// are kept in the format (there the ring has no compensation, and values are scaled back at each hop).
// Returns k, where 2^k is the factor of scaling: 0 without it, and where all values are zero or some
// are not finite. Fault::usage where sizes differ, for codecs that may not be cut, and for scaling of
// what cannot be scaled.
int sum_nodes(std::span<const Floats> nodes, MutableFloats sum, const NodeSum& how, Team& team);

}  // namespace narrowcast
