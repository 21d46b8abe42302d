#include "transport/counting.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "tests/transport/outcomes.hpp"
#include "transport/inproc.hpp"

namespace narrowcast::test {
namespace {

TEST(Counting, CountsMessagesAndBytesForEachPeer) {
  Hub hub(3);
  Counting zero(hub.connect(0));
  Counting one(hub.connect(1));
  send_text(zero, {1, 0, 0}, "four");
  send_text(zero, {1, 0, 1}, "");
  send_text(zero, {2, 0, 0}, "seven..");
  EXPECT_EQ((Sent{2, 4}), zero.sent(1));
  EXPECT_EQ((Sent{1, 7}), zero.sent(2));
  EXPECT_EQ((Sent{0, 0}), zero.sent(0));
  EXPECT_EQ((Sent{3, 11}), zero.sent());
  EXPECT_EQ((Sent{}), zero.received());

  EXPECT_EQ("four", receive_text(one, {0, 0, 0}));
  EXPECT_EQ((Sent{1, 4}), one.received(0));
  EXPECT_EQ("", receive_text(one, {0, 0, 1}));
  EXPECT_EQ((Sent{2, 4}), one.received(0));
  EXPECT_EQ((Sent{}), one.received(2));
  EXPECT_EQ((Sent{2, 4}), one.received());
  EXPECT_EQ((Sent{}), one.sent());
  send_text(one, {0, 0, 0}, "back");
  EXPECT_EQ("back", receive_text(zero, {1, 0, 0}));
  EXPECT_EQ((Sent{1, 4}), zero.received(1));
  EXPECT_EQ((Sent{}), zero.received(0));
}

// The buffer has room for more than comes.
TEST(Counting, CountsTheLengthThatCame) {
  Hub hub(2);
  Counting zero(hub.connect(0));
  Counting one(hub.connect(1));
  Ticket coming;
  Buffer buffer(100);
  coming = one.receive({0, 5, 1}, buffer);
  EXPECT_EQ((Sent{}), one.received());
  send_text(zero, {1, 5, 1}, "abc");
  coming.wait();
  EXPECT_EQ((Sent{1, 3}), one.received());
}

TEST(Counting, DoesNotCountWhatWasRefused) {
  Hub hub(2);
  Counting zero(hub.connect(0));
  EXPECT_THROW(send_text(zero, {0, 0, 0}, "to oneself"), Error);
  EXPECT_EQ((Sent{}), zero.sent());
  EXPECT_THROW(zero.sent(2), Error);
  EXPECT_THROW(zero.received(-1), Error);
}

TEST(Counting, StartsAnewAfterAReset) {
  Hub hub(2);
  Counting zero(hub.connect(0));
  Counting one(hub.connect(1));
  send_text(zero, {1, 0, 0}, "before");
  receive_text(one, {0, 0, 0});
  zero.reset();
  one.reset();
  EXPECT_EQ((Sent{}), zero.sent());
  EXPECT_EQ((Sent{}), one.received());
  send_text(zero, {1, 0, 1}, "now");
  EXPECT_EQ((Sent{1, 3}), zero.sent(1));
}

TEST(Counting, LosesNothingAmongThreads) {
  constexpr Channel kThreads = 4;
  constexpr std::uint64_t kMessages = 500;
  Hub hub(2);
  Counting zero(hub.connect(0));
  std::vector<std::thread> threads;
  for (Channel channel = 0; channel < kThreads; ++channel)
    threads.emplace_back([&zero, channel] {
      for (std::uint64_t i = 0; i < kMessages; ++i) send_text(zero, {1, channel, i}, "12345");
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ((Sent{kThreads * kMessages, kThreads * kMessages * 5}), zero.sent());
}

}  // namespace
}  // namespace narrowcast::test
