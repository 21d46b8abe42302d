#include "transport/modules/mpi_session.hpp"

#include <dlfcn.h>
#include <fmt/core.h>

#include <cstdlib>
#include <string>
#include <thread>

#include "base/error.hpp"

namespace narrowcast::mpi {
namespace {

using Clock = std::chrono::steady_clock;

// We were loaded with our symbols to ourselves, and MPI with us; but MPI loads plugins of its own,
// which look for its symbols among those that everybody sees.
void show_symbols() {
  Dl_info info = {};
  if (dladdr(reinterpret_cast<void*>(&MPI_Init_thread), &info) != 0 && info.dli_fname != nullptr)
    dlopen(info.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
}

// Our heartbeat thread calls MPI beside the threads of the caller. While MPI is ours alone, the turn
// keeps them apart; a host program's own calls know nothing of turns.
void start() {
  int provided = MPI_THREAD_SINGLE;
  show_symbols();
  check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided), "MPI_Init_thread");
  require(provided >= MPI_THREAD_SERIALIZED, Fault::system,
          "this MPI was built without threads: MPI_THREAD_SERIALIZED is needed");
}

void require_threads_of_host() {
  int provided = MPI_THREAD_SINGLE;
  check(MPI_Query_thread(&provided), "MPI_Query_thread");
  require(provided == MPI_THREAD_MULTIPLE, Fault::usage,
          "MPI is running already, but not for threads: start it by MPI_Init_thread with "
          "MPI_THREAD_MULTIPLE");
}

int ranks_of_this_machine() {
  MPI_Comm neighbours = MPI_COMM_NULL;
  int count = 1;
  check(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &neighbours),
        "MPI_Comm_split_type");
  check(MPI_Comm_size(neighbours, &count), "MPI_Comm_size");
  check(MPI_Comm_free(&neighbours), "MPI_Comm_free");
  return count;
}

}  // namespace

void check(int code, std::string_view call) {
  if (code == MPI_SUCCESS) return;
  std::string text(MPI_MAX_ERROR_STRING, '\0');
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  text.resize(length);
  throw Error(Fault::system, fmt::format("{}: {}", call, text));
}

Session& Session::of_process() {
  // Never destroyed: the handler at exit and threads that outlive main() use it.
  static auto* const session = new Session;
  return *session;
}

Session::Session() {
  int initialized = 0;
  int finalized = 0;
  check(MPI_Initialized(&initialized), "MPI_Initialized");
  check(MPI_Finalized(&finalized), "MPI_Finalized");
  require(finalized == 0, Fault::usage, "MPI has been finalized, and does not start twice");
  if (initialized != 0) {
    require_threads_of_host();
  } else {
    start();
    on_exit(at_exit, this);
  }
  constexpr int kSpins = 2000;  // some 0.2 ms
  const auto cores = static_cast<int>(std::thread::hardware_concurrency());
  if (ranks_of_this_machine() <= cores) spins_ = kSpins;
}

// MPI_Finalize waits for all ranks. One that failed must not wait for the dead: it exits with its
// own status instead, without another word to MPI, and the launcher ends the job.
void Session::at_exit(int status, void* session) {
  if (status != 0) return;
  auto& self = *static_cast<Session*>(session);
  const Turn turn = self.turn();
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (!self.muted_ && finalized == 0) MPI_Finalize();
  self.muted_ = true;  // for threads that go on
}

Turn Session::try_turn() { return {mutex_, std::try_to_lock}; }

// Not a plain lock(): those who wait for messages take turn after turn, and one that sleeps on the
// mutex would rarely wake up in a gap between them.
Turn Session::turn() {
  Turn turn = try_turn();
  while (!turn.owns_lock()) {
    std::this_thread::yield();
    turn = try_turn();
  }
  return turn;
}

MPI_Comm Session::duplicate(std::chrono::milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  {
    const Turn first = turn();
    require(!muted_, Fault::system, "MPI was given up after a fault: start the program again");
    check(MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request), "MPI_Comm_idup");
  }
  for (;; std::this_thread::yield()) {
    const Turn next = turn();
    int done = 0;
    check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done != 0) break;
    if (Clock::now() < deadline) continue;
    mute();  // MPI would write to `comm`
    throw Error(Fault::peer, fmt::format("not all ranks came within {:g} s",
                                         std::chrono::duration<double>(timeout).count()));
  }
  const Turn last = turn();
  check(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  return comm;
}

}  // namespace narrowcast::mpi
