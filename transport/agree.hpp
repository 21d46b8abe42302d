#pragma once

#include <span>
#include <string>

#include "transport/transport.hpp"

namespace narrowcast {

// Something that must be equal on all ranks: the seed, the plan, ...
struct Term {
  std::string name;  // printable ASCII, at most 64 characters
  std::string text;
};

// All ranks compare their versions and their terms, at the start and once for each transport. A
// difference is Fault::peer on every rank, and names who differs in what: "rank 2 differs in seed:
// 8 there, 7 here". What is no list of terms is Fault::wire.
void agree(Transport& net, std::span<const Term> terms);

}  // namespace narrowcast
