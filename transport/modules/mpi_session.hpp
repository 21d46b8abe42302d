#pragma once

#include <mpi.h>

#include <chrono>
#include <mutex>
#include <string_view>

namespace narrowcast::mpi {

// The right to call MPI: one thread of the process at a time.
using Turn = std::unique_lock<std::mutex>;

// Throws Fault::system, with MPI's own words, unless `code` is MPI_SUCCESS.
void check(int code, std::string_view call);

// MPI as this process has it: started once, whoever joins first, and ended at exit. A host program
// that started it before us also ends it.
class Session {
 public:
  // Starts MPI at the first call. Every rank must come here.
  static Session& of_process();

  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  Turn turn();
  Turn try_turn();  // does not wait; owns nothing when another thread has it

  // A communicator for one transport, which all ranks make together: Fault::peer when some do not
  // come in time. It is never freed: a peer's last frames may still be under way to it, and MPI
  // would hand them to the next communicator that gets the same number.
  MPI_Comm duplicate(std::chrono::milliseconds timeout);

  // Gives MPI up: it holds on to memory that is about to be freed. What is never called moves no
  // bytes. Needs the turn.
  void mute() { muted_ = true; }
  bool muted() const { return muted_; }  // needs the turn

  // How often a thread asks in vain before it lets others run: not at all where ranks outnumber
  // cores.
  int spins() const { return spins_; }

 private:
  Session();
  static void at_exit(int status, void* session);

  std::mutex mutex_;
  bool muted_ = false;
  int spins_ = 0;
};

}  // namespace narrowcast::mpi
