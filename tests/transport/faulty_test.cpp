#include "transport/faulty.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <mutex>
#include <set>

#include "tests/transport/outcomes.hpp"
#include "transport/inproc.hpp"
#include "transport/sealed.hpp"

namespace narrowcast::test {
namespace {

using std::chrono::milliseconds;

TEST(Mischief, IsTheSameInEveryRunAndAnotherForEverySeedRankAndSlot) {
  const Mischief half = {.seed = 5, .drop = 0.5};
  const auto pattern = [](const Mischief& mischief, int rank, int peer, Channel channel) {
    std::vector<Deed> deeds;
    for (std::uint64_t i = 0; i < 64; ++i)
      deeds.push_back(deed_of(mischief, rank, {peer, channel, i}));
    return deeds;
  };
  const auto first = pattern(half, 0, 1, 2);
  EXPECT_EQ(first, pattern(half, 0, 1, 2));
  EXPECT_NE(first, pattern(half, 3, 1, 2));
  EXPECT_NE(first, pattern(half, 0, 3, 2));
  EXPECT_NE(first, pattern(half, 0, 1, 3));
  EXPECT_NE(first, pattern({.seed = 6, .drop = 0.5}, 0, 1, 2));
}

TEST(Mischief, HappensAsOftenAsItSays) {
  const Mischief mischief = {.seed = 1,
                             .drop = 0.1,
                             .delay = 0.1,
                             .truncate = 0.1,
                             .flip = 0.1,
                             .repeat = 0.1,
                             .kill = 0.1};
  constexpr int kMessages = 10'000;
  std::map<Deed, int> seen;
  for (std::uint64_t i = 0; i < kMessages; ++i) ++seen[deed_of(mischief, 0, {1, 0, i})];
  // Five standard deviations of the binomial distribution.
  const auto spread = [](double p) { return 5 * std::sqrt(kMessages * p * (1 - p)); };
  EXPECT_NEAR(0.4 * kMessages, seen[Deed::none], spread(0.4));
  for (const Deed deed :
       {Deed::drop, Deed::delay, Deed::truncate, Deed::flip, Deed::repeat, Deed::kill})
    EXPECT_NEAR(0.1 * kMessages, seen[deed], spread(0.1));
}

TEST(Faulty, DropsWhatTheSenderBelievesSent) {
  Hub hub(2, milliseconds(20));
  const auto sender = faulty(hub.connect(0), {.drop = 1});
  const auto receiver = hub.connect(1);
  const Buffer message(10);
  EXPECT_EQ(10u, sender->send({1, 0, 0}, message).wait().length);
  EXPECT_THROW(receive_text(*receiver, {0, 0, 0}), Error);
}

TEST(Faulty, DelaysAndDeliversAllTheSame) {
  Hub hub(2);
  const auto sender = faulty(hub.connect(0), {.delay = 1});
  const auto receiver = hub.connect(1);
  for (std::uint64_t i = 0; i < 10; ++i) {
    send_text(*sender, {1, 0, i}, "late");
    EXPECT_EQ("late", receive_text(*receiver, {0, 0, i}));
  }
}

TEST(Faulty, CutsOffTheEnd) {
  Hub hub(2);
  const auto sender = faulty(hub.connect(0), {.truncate = 1});
  const auto receiver = hub.connect(1);
  const std::string text = "the quick brown fox";
  std::set<std::size_t> lengths;
  for (std::uint64_t i = 0; i < 50; ++i) {
    send_text(*sender, {1, 0, i}, text);
    const std::string came = receive_text(*receiver, {0, 0, i});
    EXPECT_LT(came.size(), text.size());
    EXPECT_EQ(text.substr(0, came.size()), came);
    lengths.insert(came.size());
  }
  EXPECT_GT(lengths.size(), 5u);
}

int bits_that_differ(Bytes a, Bytes b) {
  int count = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    count += std::popcount(std::to_integer<unsigned>(a[i] ^ b[i]));
  return count;
}

TEST(Faulty, FlipsOneBitOfTheMessageOrOfItsStamp) {
  Hub hub(2);
  const auto sender = faulty(hub.connect(0), {.flip = 1});
  const auto receiver = hub.connect(1);
  const Buffer message(16, std::byte{0x5a});
  const Stamp stamp = {std::byte{1}};
  int in_message = 0;
  int in_stamp = 0;
  for (std::uint64_t i = 0; i < 100; ++i) {
    EXPECT_EQ(stamp, sender->send({1, 0, i}, message, stamp).wait().stamp);
    Buffer buffer(message.size());
    const Arrival arrival = receiver->receive({0, 0, i}, buffer).wait();
    const int here = bits_that_differ(message, buffer);
    const int there = bits_that_differ(stamp, arrival.stamp);
    EXPECT_EQ(1, here + there);
    in_message += here;
    in_stamp += there;
  }
  EXPECT_GT(in_message, 0);
  EXPECT_GT(in_stamp, 0);
}

TEST(Faulty, RepeatsTheMessageBefore) {
  Hub hub(2);
  const Mischief mischief = {.seed = 3, .repeat = 0.5};
  const auto sender = faulty(hub.connect(0), mischief);
  const auto receiver = hub.connect(1);
  std::string before = "0";
  int repeated = 0;
  for (std::uint64_t i = 0; i < 50; ++i) {
    const std::string text = std::to_string(i);
    send_text(*sender, {1, 0, i}, text);
    const bool again = deed_of(mischief, 0, {1, 0, i}) == Deed::repeat;
    EXPECT_EQ(again ? before : text, receive_text(*receiver, {0, 0, i}));
    before = text;
    repeated += again ? 1 : 0;
  }
  EXPECT_GT(repeated, 5);
}

TEST(Faulty, DiesForItselfAndForTheOthers) {
  Hub hub(2);
  const auto victim = faulty(hub.connect(0), {.kill = 1});
  const auto other = hub.connect(1);
  Buffer buffer(10);
  Ticket pending = victim->receive({1, 0, 0}, buffer);
  const auto dies = [](auto call) {
    try {
      call();
      FAIL() << "it lives";
    } catch (const Error& error) {
      EXPECT_EQ(Fault::peer, error.fault());
      EXPECT_STREQ("rank 0 was killed", error.what());
    }
  };
  dies([&] { send_text(*victim, {1, 0, 0}, "last words"); });
  dies([&] { pending.wait(); });
  dies([&] { receive_text(*victim, {1, 0, 1}); });
  dies([&] { victim->poke(); });
  EXPECT_EQ(0, victim->rank());
  EXPECT_EQ(2, victim->size());
  try {
    receive_text(*other, {0, 0, 0});
    FAIL() << "the dead rank sent something";
  } catch (const Error& error) {
    EXPECT_STREQ("rank 0 left", error.what());
  }
}

TEST(Faulty, RefusesProbabilitiesThatCannotBe) {
  Hub hub(2);
  for (const Mischief& mischief :
       {Mischief{.drop = -0.1}, Mischief{.drop = 0.6, .flip = 0.6}, Mischief{.kill = std::nan("")}})
    EXPECT_THROW(faulty(hub.connect(0), mischief), Error);
}

// A small conversation: rank 0 asks, the others answer with something made from the question.
std::string question(std::uint64_t round, int peer) {
  return "question " + std::to_string(round) + " for " + std::to_string(peer);
}
std::string answer(const std::string& text, int rank) {
  return "rank " + std::to_string(rank) + " says: " + text;
}

constexpr std::uint64_t kRounds = 3;

// Throws std::logic_error when somebody got something that nobody said.
void converse(Transport& net) {
  const auto insist = [](bool right) {
    if (!right) throw std::logic_error("wrong bytes");
  };
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    if (net.rank() != 0) {
      const std::string text = receive_text(net, {0, 1, round});
      insist(text == question(round, net.rank()));
      send_text(net, {0, 2, round}, answer(text, net.rank()));
      continue;
    }
    for (int peer = 1; peer < net.size(); ++peer)
      send_text(net, {peer, 1, round}, question(round, peer));
    for (int peer = 1; peer < net.size(); ++peer)
      insist(receive_text(net, {peer, 2, round}) == answer(question(round, peer), peer));
  }
}

TEST(FaultyUnderASeal, IsAnErrorOrTheRightBytesForAThousandSeeds) {
  int right = 0;
  std::map<Fault, int> errors;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const Mischief mischief = {.seed = seed,
                               .drop = 0.005,
                               .delay = 0.01,
                               .truncate = 0.02,
                               .flip = 0.02,
                               .repeat = 0.02,
                               .kill = 0.01,
                               .longest_delay = std::chrono::microseconds(500)};
    const int ranks = 2 + static_cast<int>(seed % 3);
    const Outcomes outcomes = outcomes_of(
        ranks,
        [&](std::unique_ptr<Transport> net) {
          const auto sealed = seal(faulty(std::move(net), mischief), {});
          converse(*sealed);
        },
        milliseconds(40));
    for (const auto& outcome : outcomes)
      if (outcome)
        ++errors[outcome->fault()];
      else
        ++right;
  }
  // The dice of these seeds do all of it, and leave some alone.
  EXPECT_GT(right, 300);
  EXPECT_GT(errors[Fault::wire], 100);
  EXPECT_GT(errors[Fault::peer], 100);
  EXPECT_EQ(0, errors[Fault::usage] + errors[Fault::system]);
}

// So that the test above is known to be able to fail.
TEST(FaultyWithoutASeal, LetsWrongBytesThrough) {
  Hub hub(2);
  const auto sender = faulty(hub.connect(0), {.flip = 1});
  const auto receiver = hub.connect(1);
  const std::string text(200, 'x');
  send_text(*sender, {1, 0, 0}, text);
  EXPECT_NE(text, receive_text(*receiver, {0, 0, 0}));
}

}  // namespace
}  // namespace narrowcast::test
