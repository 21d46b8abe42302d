// One rank of a job, most of which go wrong:
//
//   mpi_rank meet      all say where they are, and leave
//   mpi_rank stubborn  all insist on getting rid of their messages before they receive any
//   mpi_rank huge      the first rank sends the last one more bytes than an int counts
//   mpi_rank killed    the last rank is killed while the others wait for it
//   mpi_rank stopped   the last rank falls silent
//   mpi_rank broken    the last rank ends with an error of its own, with a message under way
//
// A fault is one line on stderr and, as with the program, exit code 2 + its place in `Fault`.

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "transport/join.hpp"

namespace {

using narrowcast::Error;
using narrowcast::Fault;
using narrowcast::Transport;

constexpr std::size_t kLarge = 8'000'000;

std::unique_ptr<Transport> join() {
  narrowcast::Joining joining;
  joining.timeout = std::chrono::seconds(2);
  return narrowcast::transport_row("mpi").join(joining);
}

// All to all: whoever returns knows that everybody has come.
void meet(Transport& net) {
  for (int peer = 0; peer < net.size(); ++peer)
    if (peer != net.rank()) net.send({peer, 0, 0}, {}).wait();
  for (int peer = 0; peer < net.size(); ++peer)
    if (peer != net.rank()) net.receive({peer, 0, 0}, {}).wait();
}

void wait_for_the_last(Transport& net) {
  std::vector<std::byte> buffer(kLarge);
  net.receive({net.size() - 1, 1, 0}, buffer).wait();
}

// No receive is posted while the sends are waited for, and then the last message comes first. The
// lengths lie around those at which a message stops travelling in its frame.
void be_stubborn(Transport& net) {
  constexpr std::size_t kLengths[] = {0, 1, 3951, 3952, 3953, 4096, 70'000, kLarge};
  const int next = (net.rank() + 1) % net.size();
  const int previous = (net.rank() + net.size() - 1) % net.size();
  const auto content = [](int rank, std::uint64_t number) { return std::byte(rank + number * 16); };
  for (std::size_t i = 0; i < std::size(kLengths); ++i)
    net.send({next, 4, i}, std::vector(kLengths[i], content(net.rank(), i))).wait();
  for (std::size_t i = std::size(kLengths); i-- > 0;) {
    std::vector<std::byte> bytes(kLarge);
    bytes.resize(net.receive({previous, 4, i}, bytes).wait().length);
    narrowcast::require(bytes == std::vector(kLengths[i], content(previous, i)), Fault::wire,
                        "something else came than was sent");
  }
}

// MPI counts in int, so this travels in pieces.
void send_huge(Transport& net) {
  constexpr std::size_t kHuge = (std::size_t{1} << 31) + 7;
  std::vector<std::byte> bytes(kHuge);
  if (net.rank() == 0) {
    bytes.front() = bytes.back() = std::byte{1};
    bytes[kHuge / 2] = std::byte{2};
    return void(net.send({net.size() - 1, 3, 0}, bytes).wait());
  }
  const std::size_t length = net.receive({0, 3, 0}, bytes).wait().length;
  narrowcast::require(length == kHuge && bytes.front() == std::byte{1} &&
                          bytes.back() == std::byte{1} && bytes[kHuge / 2] == std::byte{2},
                      Fault::wire, "something else came than was sent");
}

void run(std::string_view what) {
  const std::unique_ptr<Transport> net = join();
  const bool last = net->rank() == net->size() - 1;
  meet(*net);
  std::printf("rank %d of %d\n", net->rank(), net->size());
  std::fflush(stdout);
  if (what == "meet") return;
  if (what == "stubborn") return be_stubborn(*net);
  if (what == "huge") return send_huge(*net);
  if (!last) return wait_for_the_last(*net);
  if (what == "killed") std::raise(SIGKILL);
  if (what == "stopped") std::raise(SIGSTOP);
  if (what == "broken") {
    const std::vector<std::byte> message(kLarge);
    const narrowcast::Ticket unwanted = net->send({0, 2, 0}, message);
    throw Error(Fault::system, "this rank breaks on purpose");
  }
  throw Error(Fault::usage, "mpi_rank meet|stubborn|huge|killed|stopped|broken");
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(argc == 2 ? argv[1] : "");
    return 0;
  } catch (const Error& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 2 + static_cast<int>(error.fault());
  }
}
