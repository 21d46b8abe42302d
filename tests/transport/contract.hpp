#pragma once

#include <span>
#include <string_view>

#include "transport/transport.hpp"

// What every transport promises, as programs that all ranks run: over threads or processes,
// whatever the engine.
namespace narrowcast::test {

enum class Aftermath {
  usable,  // the next clause may run over the same transport
  spent,   // the transport has failed, or a rank has left by returning: needs one of its own
};

struct Clause {
  std::string_view name;
  // Throws when the clause is broken. Returning means leaving: whoever runs a spent clause destroys
  // the transport of a rank as soon as that rank returns.
  void (*run)(Transport& net);
  int ranks;  // at least so many
  Aftermath aftermath;
};

// Each clause has channels of its own, so the usable ones can run one after another.
std::span<const Clause> contract();

}  // namespace narrowcast::test
