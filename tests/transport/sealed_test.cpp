#include "transport/sealed.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/transport/outcomes.hpp"
#include "transport/inproc.hpp"

namespace narrowcast::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

JobKey some_key() {
  JobKey key;
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<std::byte>(i * 7 + 1);
  return key;
}

Sealing with_key(Secrecy secrecy) { return {.key = some_key(), .secrecy = secrecy}; }

struct SealingRow {
  std::string_view name;
  Sealing (*make)();
};

constexpr SealingRow kSealings[] = {
    {"Checksum", [] { return Sealing{}; }},
    {"Authentic", [] { return with_key(Secrecy::authentic); }},
    {"Encrypted", [] { return with_key(Secrecy::encrypted); }},
};

class EverySealing : public testing::TestWithParam<SealingRow> {
 protected:
  // Rank 0 sends three messages to rank 1 through somebody who meddles, and so does rank 2; rank 1
  // waits for them one after another. What rank 1 ends with.
  static std::optional<Error> meddled(const Meddler::Meddle& meddle) {
    const auto body = [&](std::unique_ptr<Transport> net) {
      const int rank = net->rank();
      const auto only_data = [&, rank](Handed& handed) {
        if (rank == 0 && handed.to.channel < kFirstReservedChannel) meddle(handed);
      };
      const auto sealed =
          seal(std::make_unique<Meddler>(std::move(net), only_data), GetParam().make());
      for (std::uint64_t i = 0; i < 3; ++i) {
        if (rank == 1)
          EXPECT_EQ(text(i), receive_text(*sealed, {0, 4, i}));
        else
          send_text(*sealed, {1, 4, i}, text(i));
      }
    };
    return outcomes_of(3, body)[1];
  }

  static std::string text(std::uint64_t i) { return "message " + std::to_string(i); }

  static void expect_refused(const std::optional<Error>& outcome, std::uint64_t message) {
    ASSERT_TRUE(outcome) << "it was accepted";
    EXPECT_EQ(Fault::wire, outcome->fault());
    EXPECT_THAT(outcome->what(),
                AllOf(HasSubstr("rank 0"),
                      HasSubstr("(channel 4, message " + std::to_string(message) + ")")));
  }
};

TEST_P(EverySealing, LetsThroughWhatNobodyTouched) {
  EXPECT_FALSE(meddled([](Handed&) {}));
}

TEST_P(EverySealing, RefusesAnyFlippedBit) {
  const std::size_t length = text(0).size();
  for (std::size_t bit = 0; bit < length * 8; bit += 5)
    expect_refused(meddled([&](Handed& handed) {
                     if (handed.to.sequence == 0)
                       handed.message[bit / 8] ^= std::byte{1} << bit % 8;
                   }),
                   0);
  for (std::size_t bit = 0; bit < sizeof(Stamp) * 8; bit += 5)
    expect_refused(meddled([&](Handed& handed) {
                     if (handed.to.sequence == 1) handed.stamp[bit / 8] ^= std::byte{1} << bit % 8;
                   }),
                   1);
}

TEST_P(EverySealing, RefusesAnyOtherLength) {
  for (const std::size_t length : {0, 1, 8, 10, 2000})
    expect_refused(meddled([&](Handed& handed) {
                     if (handed.to.sequence == 2) handed.message.resize(length);
                   }),
                   2);
}

TEST_P(EverySealing, RefusesAReplayedMessage) {
  Handed recorded;
  expect_refused(meddled([&](Handed& handed) {
                   if (handed.to.sequence == 0) recorded = handed;
                   if (handed.to.sequence != 1) return;
                   handed.message = recorded.message;
                   handed.stamp = recorded.stamp;
                 }),
                 1);
}

TEST_P(EverySealing, RefusesMessagesInAnotherOrder) {
  expect_refused(meddled([](Handed& handed) {
                   if (handed.to.sequence < 2) handed.to.sequence = 1 - handed.to.sequence;
                 }),
                 0);
}

TEST_P(EverySealing, RefusesAMessageOfAnotherChannelOrRank) {
  const auto body = [&](std::unique_ptr<Transport> net, Handed& stolen, const Slot& victim) {
    const int rank = net->rank();
    const auto meddle = [&](Handed& handed) {
      if (rank != 0) return;
      if (handed.to == victim) stolen = handed;
      if (handed.to != Slot{1, 4, 9}) return;
      handed.message = stolen.message;
      handed.stamp = stolen.stamp;
    };
    const auto sealed = seal(std::make_unique<Meddler>(std::move(net), meddle), GetParam().make());
    if (rank == 0) {
      send_text(*sealed, victim, "the same text");
      send_text(*sealed, {1, 4, 9}, "the same text");
    } else if (rank == 1) {
      receive_text(*sealed, {0, 4, 9});
    }
  };
  for (const Slot& victim : {Slot{1, 3, 9}, Slot{2, 4, 9}}) {
    Handed stolen;
    const auto outcomes = outcomes_of(
        3, [&](std::unique_ptr<Transport> net) { body(std::move(net), stolen, victim); });
    ASSERT_TRUE(outcomes[1]) << "it was accepted";
    EXPECT_EQ(Fault::wire, outcomes[1]->fault());
  }
}

// What rank 1 said to rank 0, sent back to rank 1.
TEST_P(EverySealing, RefusesItsOwnWords) {
  Handed said;
  const auto outcomes = outcomes_of(2, [&](std::unique_ptr<Transport> net) {
    const int rank = net->rank();
    const auto meddle = [&](Handed& handed) {
      if (handed.to.channel != 4) return;
      if (rank == 1) said = handed;
      if (rank != 0) return;
      handed.message = said.message;
      handed.stamp = said.stamp;
    };
    const auto sealed = seal(std::make_unique<Meddler>(std::move(net), meddle), GetParam().make());
    if (rank == 0) {
      EXPECT_EQ("hello", receive_text(*sealed, {1, 4, 0}));
      send_text(*sealed, {1, 4, 0}, "hello");
    } else {
      send_text(*sealed, {0, 4, 0}, "hello");
      receive_text(*sealed, {0, 4, 0});
    }
  });
  ASSERT_TRUE(outcomes[1]) << "it was accepted";
  EXPECT_EQ(Fault::wire, outcomes[1]->fault());
}

TEST_P(EverySealing, FailsEverythingAfterABadMessage) {
  const auto outcomes = outcomes_of(2, [&](std::unique_ptr<Transport> net) {
    const int rank = net->rank();
    const auto meddle = [&](Handed& handed) {
      if (handed.to == Slot{1, 4, 0}) handed.message[0] ^= std::byte{1};
    };
    const auto sealed = seal(std::make_unique<Meddler>(std::move(net), meddle), GetParam().make());
    if (rank == 0) {
      send_text(*sealed, {1, 4, 0}, "bad");
      send_text(*sealed, {1, 4, 1}, "good");
      return;
    }
    Buffer buffer(10);
    Ticket good = sealed->receive({0, 4, 1}, buffer);
    std::string first;
    try {
      receive_text(*sealed, {0, 4, 0});
    } catch (const Error& error) {
      first = error.what();
    }
    EXPECT_NE("", first);
    const auto fails_alike = [&](auto call) {
      try {
        call();
        ADD_FAILURE() << "no error";
      } catch (const Error& error) {
        EXPECT_EQ(Fault::wire, error.fault());
        EXPECT_EQ(first, error.what());
      }
    };
    fails_alike([&] { good.wait(); });
    fails_alike([&] { send_text(*sealed, {0, 4, 0}, "answer"); });
    fails_alike([&] { receive_text(*sealed, {0, 4, 2}); });
  });
  for (const auto& outcome : outcomes) EXPECT_FALSE(outcome) << outcome->what();
}

TEST_P(EverySealing, RefusesToUseASequenceNumberTwice) {
  const auto outcomes = outcomes_of(2, [&](std::unique_ptr<Transport> net) {
    const auto sealed = seal(std::move(net), GetParam().make());
    const int peer = 1 - sealed->rank();
    const auto refused = [&](const Slot& to) {
      try {
        send_text(*sealed, to, "again");
        ADD_FAILURE() << to.sequence << " was sent";
      } catch (const Error& error) {
        EXPECT_EQ(Fault::usage, error.fault());
      }
    };
    send_text(*sealed, {peer, 4, 0}, "zero");
    refused({peer, 4, 0});
    send_text(*sealed, {peer, 4, 7}, "seven");
    refused({peer, 4, 7});
    refused({peer, 4, 6});
    send_text(*sealed, {peer, 5, 0}, "another channel");
    send_text(*sealed, {peer, 4, 8}, "eight");
    EXPECT_EQ("eight", receive_text(*sealed, {peer, 4, 8}));
  });
  for (const auto& outcome : outcomes) EXPECT_FALSE(outcome) << outcome->what();
}

TEST_P(EverySealing, WorksForOneRankAlone) {
  Hub hub(1);
  EXPECT_EQ(1, seal(hub.connect(0), GetParam().make())->size());
}

TEST_P(EverySealing, HasNoRoomForAnotherStamp) {
  const auto outcomes = outcomes_of(2, [&](std::unique_ptr<Transport> net) {
    const auto sealed = seal(std::move(net), GetParam().make());
    const Ticket ticket = sealed->send({1 - sealed->rank(), 4, 0}, {}, Stamp{std::byte{1}});
  });
  for (const auto& outcome : outcomes) {
    ASSERT_TRUE(outcome);
    EXPECT_EQ(Fault::usage, outcome->fault());
  }
}

INSTANTIATE_TEST_SUITE_P(, EverySealing, testing::ValuesIn(kSealings),
                         [](const auto& row) { return std::string(row.param.name); });

// What the wire sees of one message, sent twice.
std::vector<Handed> on_the_wire(Secrecy secrecy, const std::string& text) {
  std::vector<Handed> seen;
  const auto outcomes = outcomes_of(2, [&](std::unique_ptr<Transport> net) {
    const int rank = net->rank();
    const auto look = [&](Handed& handed) {
      if (rank == 0 && handed.to.channel == 4) seen.push_back(handed);
    };
    const auto sealed = seal(std::make_unique<Meddler>(std::move(net), look), with_key(secrecy));
    if (rank != 0) return;
    send_text(*sealed, {1, 4, 0}, text);
    send_text(*sealed, {1, 4, 1}, text);
  });
  for (const auto& outcome : outcomes) EXPECT_FALSE(outcome) << outcome->what();
  return seen;
}

TEST(Sealed, ShowsAMessageOnTheWireUnlessItIsEncrypted) {
  const std::string text = "a secret of some length, for one cannot guess it";
  EXPECT_EQ(bytes_of(text), on_the_wire(Secrecy::authentic, text).at(0).message);
  const auto hidden = on_the_wire(Secrecy::encrypted, text);
  EXPECT_EQ(text.size(), hidden.at(0).message.size());
  std::size_t alike = 0;
  for (std::size_t i = 0; i < text.size(); ++i)
    alike += hidden.at(0).message[i] == bytes_of(text)[i] ? 1 : 0;
  EXPECT_LT(alike, 8u);
}

TEST(Sealed, NeverSealsTwoMessagesAlike) {
  for (const Secrecy secrecy : {Secrecy::authentic, Secrecy::encrypted}) {
    const auto session = on_the_wire(secrecy, "the same");
    const auto other = on_the_wire(secrecy, "the same");
    EXPECT_NE(session.at(0).stamp, session.at(1).stamp);
    EXPECT_NE(session.at(0).stamp, other.at(0).stamp) << "a session has the key of the one before";
  }
}

}  // namespace
}  // namespace narrowcast::test
