// A program that has MPI running before narrowcast joins, uses it beside us, and ends it itself.
// Started with the word "single" it runs MPI in a way that we must refuse.

#include <mpi.h>

#include <cstdio>
#include <string_view>

#include "base/error.hpp"
#include "transport/join.hpp"

namespace {

// The two ranks exchange a byte through us, then through MPI itself.
void exchange(int rank) {
  const int peer = 1 - rank;
  const auto mine = std::byte(rank);
  auto theirs = std::byte(9);
  {
    const auto net = narrowcast::transport_row("mpi").join({});
    narrowcast::Ticket sent = net->send({peer, 0, 0}, {&mine, 1});
    net->receive({peer, 0, 0}, {&theirs, 1}).wait();
    sent.wait();
  }
  int ranks = 0;
  const int one = 1;
  MPI_Allreduce(&one, &ranks, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  narrowcast::require(theirs == std::byte(peer) && ranks == 2, narrowcast::Fault::wire,
                      "something else came than was sent");
}

}  // namespace

int main(int argc, char** argv) {
  const bool single = argc == 2 && std::string_view(argv[1]) == "single";
  int provided = 0;
  int rank = 0;
  int code = 0;
  MPI_Init_thread(nullptr, nullptr, single ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  try {
    exchange(rank);
  } catch (const narrowcast::Error& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    code = 1;
  }
  MPI_Finalize();
  return code;
}
