#include "transport/module.hpp"

namespace narrowcast {

std::unique_ptr<Transport> join_gloo(const Joining& joining) {
  return join_module({.name = "gloo", .package = "libgloo-dev"}, joining);
}

}  // namespace narrowcast
