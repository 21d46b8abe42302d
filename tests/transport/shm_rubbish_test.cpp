#include <gmock/gmock.h>
#include <unistd.h>

#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/random.hpp"
#include "transport/shm.hpp"
#include "transport/shm/layout.hpp"
#include "transport/shm/mapping.hpp"

// A peer may write anything into the shared memory: the others get Fault::wire, naming it.
namespace narrowcast::test {
namespace {

using testing::HasSubstr;

constexpr std::size_t kRing = kSmallestRing;

// Rank 0 is a transport, rank 1 is the test.
class ShmRubbish : public testing::Test {
 protected:
  ShmRubbish() {
    shm::RankPage& page = mapping().page(1);
    page.pid.store(getpid());
    page.beat.store(std::numeric_limits<std::int64_t>::max());  // rubbish, too
    page.presence.store(shm::Presence::joined);
    Joining joining;
    joining.place = {0, 2, 0, 2};
    net_ = join_shm(segment_, joining);
  }

  const shm::Mapping& mapping() const { return *segment_.mapping(); }
  shm::RingControl& incoming() const { return mapping().control(1, 0); }

  void write(std::size_t at, const shm::MessageHeader& header) const {
    std::memcpy(mapping().ring(1, 0).data() + at, &header, sizeof header);
  }

  static shm::MessageHeader header(std::uint64_t sequence, std::uint64_t length) {
    return {.magic = shm::kMessageMagic,
            .channel = 0,
            .sequence = sequence,
            .length = length,
            .stamp = {},
            .unused = {}};
  }

  // Waiting for a message of at most 100 bytes ends in that fault.
  void expect_fault(const std::string& text) const {
    std::vector<std::byte> buffer(100);
    try {
      net_->receive({1, 0, 0}, buffer).wait();
      ADD_FAILURE() << "it arrived";
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::wire);
      EXPECT_THAT(error.what(), HasSubstr(text));
    }
    EXPECT_THROW(net_->send({1, 0, 0}, {}).wait(), Error);
  }

  ShmSegment segment_{2, kRing};
  std::unique_ptr<Transport> net_;
};

TEST_F(ShmRubbish, InTheHeadOfARing) {
  incoming().head.store(kRing + shm::kCell);
  expect_fault("rank 1 put its end of the ring where none is");
}

TEST_F(ShmRubbish, InTheHeadOfARingBetweenCells) {
  incoming().head.store(shm::kCell + 1);
  expect_fault("rank 1 put its end of the ring where none is");
}

TEST_F(ShmRubbish, InTheTailOfARing) {
  mapping().control(0, 1).tail.store(64);  // of what was never written
  try {
    net_->send({1, 0, 0}, {}).wait();
    ADD_FAILURE() << "it was sent";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::wire);
    EXPECT_THAT(error.what(), HasSubstr("rank 1"));
  }
}

TEST_F(ShmRubbish, WhereAMessageShouldBegin) {
  incoming().head.store(shm::kCell);
  expect_fault("rank 1 wrote something else than a message");
}

TEST_F(ShmRubbish, InTheLengthOfAMessageThatIsWaitedFor) {
  write(0, header(0, std::numeric_limits<std::uint64_t>::max()));
  incoming().head.store(shm::kCell);
  expect_fault("rank 1 sent 18446744073709551615 bytes where 100 fit (channel 0, message 0)");
}

TEST_F(ShmRubbish, InTheLengthOfAMessageThatNobodyWaitsFor) {
  write(0, header(7, std::numeric_limits<std::uint64_t>::max() - 5));
  incoming().head.store(shm::kCell);
  expect_fault("rank 1 sent 18446744073709551610 bytes that nobody asked for");
}

TEST_F(ShmRubbish, InAMessageThatComesTwice) {
  write(0, header(7, 0));
  write(shm::kCell, header(7, 0));
  incoming().head.store(2 * shm::kCell);
  expect_fault("rank 1 sent message 7 of channel 0 twice");
}

// Any bytes at all, at any positions: an error or nothing, never a crash.
TEST_F(ShmRubbish, OfAnyKindIsSurvived) {
  const Stream dice = stream_of({.seed = 5});
  const MutableBytes ring = mapping().ring(1, 0);
  for (std::size_t i = 0; i < ring.size(); ++i) ring[i] = static_cast<std::byte>(random16(dice, i));
  for (std::uint64_t at = 0; at < ring.size(); at += shm::kCell * 5)
    write(at, header(random16(dice, at) % 4, random16(dice, at + 1) % 300));
  std::vector<std::byte> buffer(300);
  const Ticket ticket = net_->receive({1, 0, 2}, buffer);
  for (std::uint64_t head = 0; head <= ring.size(); head += shm::kCell) {
    incoming().head.store(head);
    net_->poke();
  }
}

}  // namespace
}  // namespace narrowcast::test
