// Runs the contract of transports over mpi, in processes that mpirun has started. Every rank ends
// with 0, or with 1 and a line that says which clause was broken.

#include "tests/transport/contract.hpp"

#include <cstdio>
#include <exception>
#include <memory>
#include <string>

#include "transport/join.hpp"

namespace {

using narrowcast::Joining;
using narrowcast::Transport;
using narrowcast::test::Aftermath;
using narrowcast::test::Clause;

std::unique_ptr<Transport> join() {
  Joining joining;
  joining.timeout = std::chrono::seconds(60);
  return narrowcast::transport_row("mpi").join(joining);
}

void run(const Clause& clause, Transport& net) {
  if (net.size() < clause.ranks) return;
  try {
    clause.run(net);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%.*s on rank %d: %s\n", static_cast<int>(clause.name.size()),
                 clause.name.data(), net.rank(), error.what());
    throw;
  }
  if (net.rank() == 0)
    std::printf("%.*s\n", static_cast<int>(clause.name.size()), clause.name.data());
}

// The clauses that leave their transport usable share one; the others get their own.
void run_all() {
  const std::unique_ptr<Transport> shared = join();
  for (const Clause& clause : narrowcast::test::contract()) {
    if (clause.aftermath == Aftermath::usable)
      run(clause, *shared);
    else
      run(clause, *join());
  }
}

}  // namespace

int main() {
  try {
    run_all();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
