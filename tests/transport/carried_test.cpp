#include "transport/carried.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>

#include "tests/support/fault_text.hpp"

namespace narrowcast::test {
namespace {

using namespace std::chrono_literals;

// One rank whose carrier is the test itself. At its end nobody is there to hear farewells.
struct Rank {
  Rank(int rank, int ranks, std::chrono::milliseconds timeout = 60s)
      : net({.place = {.rank = rank, .size = ranks}, .timeout = timeout}) {}
  ~Rank() {
    for (int peer = 0; peer < net.size(); ++peer)
      if (peer != net.rank()) net.lost(peer, {});
  }
  Rank(const Rank&) = delete;
  Rank& operator=(const Rank&) = delete;

  void send(int peer, std::uint64_t sequence = 0) {
    net.send({.peer = peer, .sequence = sequence}, {}).wait();
  }
  std::string receive(int peer) {
    return fault_text([&] { net.receive({.peer = peer}, {}).wait(); });
  }

  // Takes one frame to another rank.
  bool carry_to(Rank& other) {
    const std::optional<Load> load = net.next(other.net.rank());
    const bool more = load && other.net.deliver(net.rank(), load->frame);
    if (load) net.carried(other.net.rank(), *load);
    return more;
  }

  Carried net;
};

TEST(Carried, NamesAPeerThatStaysSilent) {
  Rank rank(0, 2, 100ms);
  EXPECT_EQ(rank.receive(1), "peer: rank 1 has been silent for 0.1 s");
}

TEST(Carried, NamesAPeerWhoseConnectionIsLostAndTellsTheOthers) {
  Rank first(0, 3);
  Rank second(1, 3);
  first.net.lost(2, "closed");
  EXPECT_EQ(first.receive(1), "peer: rank 2 died: closed");
  first.carry_to(second);
  EXPECT_EQ(second.receive(0), "peer: rank 0 gave up: rank 2 died: closed");
}

TEST(Carried, TakesTheEndOfAConnectionForGrantedAfterAFarewell) {
  Rank first(0, 2);
  Rank second(1, 2, 50ms);  // which waits no longer for its farewell to be heard
  second.net.leave();
  EXPECT_FALSE(second.carry_to(first));
  first.net.lost(1, "closed");
  EXPECT_EQ(first.receive(1), "peer: rank 1 left");
}

TEST(Carried, RefusesFramesThatHaveNoRoomForAFarewell) {
  const auto with = [](std::size_t frame_bytes) {
    return fault_text(
        [&] { const Carried net({.place = {.rank = 0, .size = 1}, .frame_bytes = frame_bytes}); });
  };
  EXPECT_EQ(with(1), "usage: frames of 1 bytes are too short: 464 are the least");
  EXPECT_EQ(with(463), "usage: frames of 463 bytes are too short: 464 are the least");
  EXPECT_EQ(with(464), "no error");
}

TEST(Carried, RefusesBytesThatAreNoFrame) {
  Rank first(0, 2);
  Rank second(1, 2);
  second.send(0);
  const std::optional<Load> load = second.net.next(0);
  load->frame.back() ^= std::byte{1};
  EXPECT_FALSE(first.net.deliver(1, load->frame));
  EXPECT_EQ(first.receive(1), "wire: rank 1 sent bytes that are no frame");
}

TEST(Carried, RefusesAFrameThatComesTwice) {
  Rank first(0, 2);
  Rank second(1, 2);
  second.send(0);
  const std::optional<Load> load = second.net.next(0);
  EXPECT_TRUE(first.net.deliver(1, load->frame));
  EXPECT_FALSE(first.net.deliver(1, load->frame));
}

TEST(Carried, GivesUpOnACarrierThatTakesNothing) {
  Rank first(0, 2, 100ms);
  Rank second(1, 2);
  first.send(1);
  for (std::uint64_t i = 0;; ++i) {  // the peer is heard of all the time
    second.send(0, i);
    if (!second.carry_to(first)) break;
    const std::string said =
        fault_text([&] { first.net.receive({.peer = 1, .sequence = i}, {}).wait(); });
    if (said == "no error") continue;
    EXPECT_EQ(said, "peer: rank 1 has taken nothing for 0.1 s");
    return;
  }
}

TEST(Carried, HasNothingMoreToCarryWhenItHasLeft) {
  Rank rank(0, 2, 50ms);
  rank.net.leave();
  while (rank.net.next(1)) continue;  // heartbeats and the farewell
  EXPECT_EQ(fault_text([&] { rank.send(1); }), "usage: this rank has left");
}

}  // namespace
}  // namespace narrowcast::test
