#include "transport/transport.hpp"

#include <fmt/core.h>

#include "base/error.hpp"

namespace narrowcast {
namespace {

void check_peer(const Transport& net, int peer) {
  if (peer < 0 || peer >= net.size())
    throw Error(Fault::usage, fmt::format("there is no rank {} among {}", peer, net.size()));
  if (peer == net.rank())
    throw Error(Fault::usage, fmt::format("rank {} cannot exchange messages with itself", peer));
}

}  // namespace

Ticket Transport::send(const Slot& to, Bytes message, const Stamp& stamp) {
  check_peer(*this, to.peer);
  return Ticket(do_send(to, message, stamp));
}

Ticket Transport::receive(const Slot& from, MutableBytes buffer) {
  check_peer(*this, from.peer);
  return Ticket(do_receive(from, buffer));
}

void Transport::engine_all_reduce(MutableFloats /*values*/) {
  throw Error(Fault::usage, "this transport has no all-reduce of its own: use gloo or mpi");
}

}  // namespace narrowcast
