// The gloo transport, loaded by transport/gloo.cpp.

#include <fmt/core.h>

#include <csignal>
#include <memory>

#include "base/error.hpp"
#include "transport/module.hpp"
#include "transport/modules/gloo_board.hpp"
#include "transport/modules/gloo_mesh.hpp"
#include "transport/modules/gloo_transport.hpp"

namespace narrowcast {
namespace {

// Gloo writes to sockets in a way that raises SIGPIPE when the peer is gone. Whoever handles that
// signal keeps doing so.
void ignore_broken_pipes() {
  struct sigaction now = {};
  if (sigaction(SIGPIPE, nullptr, &now) == 0 && now.sa_handler == SIG_DFL)
    std::signal(SIGPIPE, SIG_IGN);
}

std::unique_ptr<Transport> join(const Joining& joining) {
  ignore_broken_pipes();
  const Clock::time_point deadline = Clock::now() + joining.timeout;
  if (joining.place.size == 1) return over_gloo::make_transport(joining, {}, deadline);
  const MeetingPlace place = parse_meeting_place(joining.rendezvous);
  const auto board = over_gloo::open_board(joining, place, deadline);
  const over_gloo::Mesh mesh = over_gloo::connect_mesh(joining, *board, deadline);
  std::unique_ptr<Transport> transport = over_gloo::make_transport(joining, mesh, deadline);
  board->clear();  // everybody has said hello, so everybody has found everybody
  return transport;
}

}  // namespace
}  // namespace narrowcast

extern "C" narrowcast::Transport* narrowcast_join(const narrowcast::Joining& joining,
                                                  const char* version) {
  using narrowcast::Error;
  using narrowcast::Fault;
  narrowcast::check_module_version("gloo", version);
  try {
    return narrowcast::join(joining).release();
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw Error(Fault::peer, fmt::format("the ranks could not meet at {}: {}", joining.rendezvous,
                                         error.what()));
  }
}
