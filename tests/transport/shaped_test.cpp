#include "transport/shaped.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <limits>
#include <thread>

#include "tests/transport/outcomes.hpp"
#include "transport/inproc.hpp"

namespace narrowcast::test {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

Buffer kilobytes(std::size_t count) { return Buffer(count * 1000, std::byte{7}); }

constexpr double kMegabyte = 1e6;  // of bytes per second: a kilobyte in a millisecond

TEST(Shaped, DeliversNotBeforeTheBytesHavePassedTheLink) {
  Hub hub(2);
  const auto sender = shaped(hub.connect(0), {.bytes_per_second = kMegabyte});
  const auto receiver = hub.connect(1);
  const Buffer message = kilobytes(30);
  Buffer buffer(message.size());
  const auto start = Clock::now();
  Ticket leaving = sender->send({1, 0, 0}, message);
  EXPECT_EQ(message.size(), receiver->receive({0, 0, 0}, buffer).wait().length);
  EXPECT_GE(Clock::now() - start, milliseconds(30));
  EXPECT_EQ(message, buffer);
  EXPECT_EQ(message.size(), leaving.wait().length);
}

TEST(Shaped, AddsTheLatencyToTheArrivalAndNotToTheDeparture) {
  Hub hub(2);
  constexpr auto kLatency = milliseconds(200);
  const auto sender = shaped(hub.connect(0), {.bytes_per_second = kMegabyte, .latency = kLatency});
  const auto receiver = hub.connect(1);
  const Buffer message = kilobytes(10);
  Buffer buffer(message.size());
  const auto start = Clock::now();
  sender->send({1, 0, 0}, message).wait();
  const auto departed = Clock::now() - start;
  EXPECT_GE(departed, milliseconds(10));
  EXPECT_LT(departed, kLatency);
  receiver->receive({0, 0, 0}, buffer).wait();
  EXPECT_GE(Clock::now() - start, milliseconds(10) + kLatency);
}

TEST(Shaped, SendsOneAfterAnotherWhoeverTheyAreFor) {
  Hub hub(3);
  const auto sender = shaped(hub.connect(0), {.bytes_per_second = kMegabyte});
  const auto one = hub.connect(1);
  const auto two = hub.connect(2);
  const Buffer message = kilobytes(10);
  Buffer buffer(message.size());
  const auto start = Clock::now();
  Ticket first = sender->send({1, 0, 0}, message);
  Ticket second = sender->send({2, 0, 0}, message);
  Ticket third = sender->send({1, 1, 0}, message);
  two->receive({0, 0, 0}, buffer).wait();
  EXPECT_GE(Clock::now() - start, milliseconds(20));
  one->receive({0, 1, 0}, buffer).wait();
  EXPECT_GE(Clock::now() - start, milliseconds(30));
  third.wait();
  second.wait();
  first.wait();
}

// A link that was idle does not owe the sender anything.
TEST(Shaped, DoesNotSaveUpIdleTime) {
  Hub hub(2);
  const auto sender = shaped(hub.connect(0), {.bytes_per_second = kMegabyte});
  const Buffer message = kilobytes(10);
  sender->send({1, 0, 0}, message).wait();
  const auto rested = Clock::now() + milliseconds(15);
  while (Clock::now() < rested) std::this_thread::yield();
  const auto start = Clock::now();
  sender->send({1, 0, 1}, message).wait();
  EXPECT_GE(Clock::now() - start, milliseconds(10));
}

TEST(Shaped, ReturnsFromSendLongBeforeTheMessageHasLeft) {
  Hub hub(2);
  const auto sender = shaped(hub.connect(0), {.bytes_per_second = kMegabyte});
  const Buffer message = kilobytes(500);
  const auto start = Clock::now();
  const Ticket leaving = sender->send({1, 0, 0}, message);
  EXPECT_LT(Clock::now() - start, milliseconds(500));
}

TEST(Shaped, WithdrawsAMessageWhoseTicketIsDestroyed) {
  Hub hub(2, milliseconds(50));
  const auto receiver = hub.connect(1);
  Buffer buffer(100'000);
  {
    const auto sender = shaped(hub.connect(0), {.bytes_per_second = kMegabyte});
    const Buffer message = kilobytes(100);
    Ticket doomed = sender->send({1, 0, 0}, message);
    doomed = Ticket();
    send_text(*sender, {1, 0, 1}, "next");
  }
  EXPECT_EQ("next", receive_text(*receiver, {0, 0, 1}));
  EXPECT_THROW(receiver->receive({0, 0, 0}, buffer).wait(), Error);
}

TEST(Shaped, LetsTheCallerChangeTheBufferOnceItHasLeft) {
  Hub hub(2);
  const auto sender =
      shaped(hub.connect(0), {.bytes_per_second = kMegabyte, .latency = milliseconds(20)});
  const auto receiver = hub.connect(1);
  Buffer message = bytes_of("as it was");
  sender->send({1, 0, 0}, message).wait();
  message = bytes_of("otherwise");
  EXPECT_EQ("as it was", receive_text(*receiver, {0, 0, 0}));
}

TEST(Shaped, DeliversOnTimeWhatWasSentBeforeLeaving) {
  Hub hub(2);
  const auto receiver = hub.connect(1);
  const auto start = Clock::now();
  {
    const auto sender =
        shaped(hub.connect(0), {.bytes_per_second = kMegabyte, .latency = milliseconds(20)});
    send_text(*sender, {1, 0, 0}, "farewell");
  }
  EXPECT_EQ("farewell", receive_text(*receiver, {0, 0, 0}));
  EXPECT_GE(Clock::now() - start, milliseconds(20));
}

TEST(Shaped, FailsEverythingAfterAFaultOfTheInnerTransport) {
  Hub hub(2);
  std::promise<void> both_sent;
  const auto broken = [&](Handed&) {
    both_sent.get_future().wait();
    throw Error(Fault::peer, "rank 1 died");
  };
  const auto sender =
      shaped(std::make_unique<Meddler>(hub.connect(0), broken), {.bytes_per_second = kMegabyte});
  const Buffer small = kilobytes(1);
  const Buffer large = kilobytes(20'000);  // twenty seconds
  Ticket first = sender->send({1, 0, 0}, small);
  Ticket second = sender->send({1, 0, 1}, large);
  both_sent.set_value();
  const auto start = Clock::now();
  EXPECT_THROW(second.wait(), Error);
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(10));
  EXPECT_THROW(first.wait(), Error);
  EXPECT_THROW(send_text(*sender, {1, 0, 2}, "more"), Error);
}

TEST(Shaped, FailsItsSendsAfterAFaultOfAReceive) {
  Hub hub(2, milliseconds(20));
  const auto sender = shaped(hub.connect(0), {.bytes_per_second = kMegabyte});
  const Buffer large = kilobytes(20'000);  // twenty seconds
  Ticket leaving = sender->send({1, 0, 0}, large);
  EXPECT_THROW(receive_text(*sender, {1, 0, 0}), Error);  // rank 1 is silent
  EXPECT_THROW(leaving.wait(), Error);
  EXPECT_THROW(send_text(*sender, {1, 0, 1}, "more"), Error);
}

TEST(Shaped, RefusesLinksThatCannotBe) {
  Hub hub(2);
  for (const double rate : {0.0, -1.0, 0.5, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_THROW(shaped(hub.connect(0), {.bytes_per_second = rate}), Error) << rate;
  EXPECT_THROW(
      shaped(hub.connect(0), {.bytes_per_second = 1, .latency = std::chrono::nanoseconds(-1)}),
      Error);
}

}  // namespace
}  // namespace narrowcast::test
