#include "transport/meet.hpp"

namespace narrowcast {

Letters meet(Transport& net, Channel channel, const Letters& letters, std::size_t most) {
  const int own = net.rank();
  Letters theirs(net.size());
  std::vector<Ticket> coming(net.size());
  std::vector<Ticket> leaving(net.size());
  for (int peer = 0; peer < net.size(); ++peer) {
    if (peer == own) continue;
    const Slot slot = {.peer = peer, .channel = channel};
    theirs[peer].resize(most);
    coming[peer] = net.receive(slot, theirs[peer]);
    leaving[peer] = net.send(slot, letters[peer]);
  }
  for (Ticket& ticket : leaving) ticket.wait();
  for (int peer = 0; peer < net.size(); ++peer)
    theirs[peer].resize(coming[peer].wait().length);  // nothing, for one's own
  return theirs;
}

}  // namespace narrowcast
