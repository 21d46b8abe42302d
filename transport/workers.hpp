#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

// Starts the ranks of a job as processes of this machine and looks after them.
namespace narrowcast {

struct Extras {
  std::vector<std::pair<std::string, std::string>> environment;
  std::vector<int> descriptors;  // that they inherit, under the same numbers
};

struct Staffing {
  int ranks = 1;
  std::string program = "/proc/self/exe";
  std::vector<std::string> words;  // without the program's own name
  // Instead of `words`, where they are not the same on all ranks.
  std::function<std::vector<std::string>(int rank)> words_of = {};
  std::string transport;   // NARROWCAST_TRANSPORT
  std::string rendezvous;  // NARROWCAST_RENDEZVOUS
  Extras everyone;
  Extras rank0;
  // When one rank has failed, the others have so long to notice and to end by themselves.
  std::chrono::milliseconds grace = std::chrono::milliseconds(1500);
  // When this process is asked to stop, they have so long to finish what they are at.
  std::chrono::milliseconds farewell = std::chrono::milliseconds(1500);
  int out = 1;  // where rank 0's standard output goes
  int err = 2;  // where everybody's standard error goes, line by line
};

// How a rank ended: by itself with a code, or by a signal.
struct Ending {
  int code = 0;
  std::optional<int> signal;
  bool failed() const { return code != 0 || signal; }
};

struct Outcome {
  std::vector<Ending> endings;     // by rank
  std::vector<int> order;          // ranks, in the order in which they ended
  std::optional<int> interrupted;  // the signal that this process was asked to stop with

  std::optional<int> first_failed() const;  // rank
  // 0 when all went well; else the code of the first rank that failed by itself and not for a peer;
  // else that of Fault::peer. An interrupted job has 128 + signal.
  int exit_code() const;
};

// The processes. They have RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, NARROWCAST_TRANSPORT and
// NARROWCAST_RENDEZVOUS in their environment. Rank 0 has this process's standard input and output,
// the others read and write /dev/null; each line on standard error gets the prefix "rank N: ".
//
// They never outlive this object, nor the thread that made it, however that ends. SIGINT and
// SIGTERM are kept from this thread, and passed on by wait().
class Workers {
 public:
  // Fault::system when the program cannot be started.
  explicit Workers(const Staffing& staffing);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  int pid(int rank) const;

  // Returns when all have ended. Once; from the thread that made this.
  Outcome wait();

 private:
  class Crew;  // workers.cpp
  std::unique_ptr<Crew> crew_;
};

}  // namespace narrowcast
