// A rank in a process of its own, for tests of what only processes can do:
//
//   shm_rank ROLE TIMEOUT_MS      joins as the environment says and plays its role
//   shm_rank NAME TIMEOUT_MS      runs that clause of the contract
//   shm_rank launch TIMEOUT_MS    starts two ranks that wait for ever, and prints their process ids
//
// Errors go to stderr and become exit codes: 4 for Fault::peer, 3 for anything else.

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "tests/transport/contract.hpp"
#include "transport/shm.hpp"
#include "transport/workers.hpp"

namespace narrowcast::test {
namespace {

constexpr int kVictim = 1;

int number(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? -1 : std::atoi(text);
}

Joining joining(std::chrono::milliseconds timeout) {
  Joining joining;
  joining.place.rank = number("RANK");
  joining.place.size = number("WORLD_SIZE");
  joining.rendezvous = std::getenv("NARROWCAST_RENDEZVOUS");
  joining.timeout = timeout;
  return joining;
}

void await(Transport& net, int peer, std::uint64_t sequence) {
  net.receive({peer, 0, sequence}, {}).wait();
}

// Rank 1 comes to grief once all others are about to wait for it.
template <class Grief>
void grieve(Transport& net, Grief grief) {
  if (net.rank() != kVictim) {
    net.send({kVictim, 0, 0}, {}).wait();
    await(net, kVictim, 1);
    return;
  }
  for (int peer = 0; peer < net.size(); ++peer)
    if (peer != kVictim) await(net, peer, 0);
  grief();
}

// The last rank waits for rank 0, which waits for the victim: the victim is to be named all the
// same, though to the last rank it only looks as if rank 0 left.
void grieve_in_a_chain(Transport& net) {
  if (net.rank() == kVictim) {
    await(net, 0, 0);
    raise(SIGKILL);
  }
  if (net.rank() == 0) net.send({kVictim, 0, 0}, {}).wait();
  await(net, net.rank() == 0 ? kVictim : 0, 1);
}

void launch() {
  const ShmSegment segment(2);
  Staffing staffing;
  staffing.ranks = 2;
  staffing.words = {"wait", "60000"};
  staffing.rendezvous = segment.rendezvous();
  staffing.everyone.descriptors = {segment.fd()};
  Workers workers(staffing);
  std::printf("%d %d\n", workers.pid(0), workers.pid(1));
  std::fflush(stdout);
  workers.wait();
}

void play(std::string_view role, std::chrono::milliseconds timeout) {
  if (role == "launch") return launch();
  if (role == "stay away" && number("RANK") == kVictim) return;
  const std::unique_ptr<Transport> net = join_shm(joining(timeout));
  if (role == "be killed") return grieve(*net, [] { raise(SIGKILL); });
  if (role == "be stopped") return grieve(*net, [] { raise(SIGSTOP); });
  if (role == "exit") return grieve(*net, [] { _exit(0); });
  if (role == "chain") return grieve_in_a_chain(*net);
  if (role == "wait") return await(*net, 1 - net->rank(), 0);
  const auto clause = std::ranges::find(contract(), role, &Clause::name);
  if (clause == contract().end()) throw std::invalid_argument("no such role");
  clause->run(*net);
}

}  // namespace
}  // namespace narrowcast::test

int main(int count, char** words) {
  if (count != 3) return 2;
  try {
    narrowcast::test::play(words[1], std::chrono::milliseconds(std::atoi(words[2])));
  } catch (const narrowcast::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return error.fault() == narrowcast::Fault::peer ? 4 : 3;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 3;
  }
  return 0;
}
