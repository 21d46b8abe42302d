#pragma once

#include <optional>
#include <string>

#include "transport/join.hpp"
#include "transport/rendezvous.hpp"

namespace narrowcast::over_gloo {

// Which address other ranks reach this one at. One of the two is set.
struct Interface {
  std::string name;     // as GLOO_SOCKET_IFNAME says
  std::string address;  // a number, never a host name
};

// GLOO_SOCKET_IFNAME when it is set: an interface that has no address is Fault::usage, listing
// those that have one. Else the address that faces the rendezvous; where that says nothing of
// other machines, the one that faces the world, or loopback when there is none.
Interface choose_interface(const Joining& joining, const MeetingPlace& place);

}  // namespace narrowcast::over_gloo
