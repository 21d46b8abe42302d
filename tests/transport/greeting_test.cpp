// How ranks that want to seal refuse each other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/transport/outcomes.hpp"
#include "transport/meet.hpp"
#include "transport/sealed.hpp"
#include "transport/sealing/envelope.hpp"

namespace narrowcast::test {
namespace {

using testing::HasSubstr;

Sealing with_key(unsigned char first, Secrecy secrecy = Secrecy::authentic) {
  JobKey key = {};
  key[0] = static_cast<std::byte>(first);
  return {.key = key, .secrecy = secrecy};
}

// Three ranks of which rank 2 seals otherwise; each must refuse.
Outcomes odd_one_out(const Sealing& usual, const Sealing& odd) {
  return outcomes_of(3, [&](std::unique_ptr<Transport> net) {
    const bool is_odd = net->rank() == 2;
    seal(std::move(net), is_odd ? odd : usual);
  });
}

void expect_refusals(const Outcomes& outcomes, const std::string& of_others,
                     const std::string& of_odd) {
  for (std::size_t rank = 0; rank < outcomes.size(); ++rank) {
    ASSERT_TRUE(outcomes[rank]) << "rank " << rank << " accepted";
    EXPECT_EQ(Fault::peer, outcomes[rank]->fault());
    EXPECT_EQ(rank == 2 ? of_odd : of_others, outcomes[rank]->what());
  }
}

TEST(Greeting, RefusesAWrongKey) {
  expect_refusals(odd_one_out(with_key(1), with_key(2)), "rank 2 has another job key",
                  "rank 0 has another job key");
}

TEST(Greeting, RefusesAMissingKey) {
  expect_refusals(odd_one_out(with_key(1), {}),
                  "rank 2 has no job key, and this rank authenticates with a job key",
                  "rank 0 authenticates with a job key, and this rank has no job key");
}

TEST(Greeting, RefusesAnotherUseOfTheKey) {
  expect_refusals(odd_one_out(with_key(1), with_key(1, Secrecy::encrypted)),
                  "rank 2 encrypts with a job key, and this rank authenticates with a job key",
                  "rank 0 authenticates with a job key, and this rank encrypts with a job key");
}

TEST(Greeting, RefusesAnOldVersionAndNamesBoth) {
  for (const Sealing& usual : {Sealing{}, with_key(1)}) {
    Sealing current = usual;
    Sealing old = usual;
    current.version = "1.4.0";
    old.version = "0.0.9";
    expect_refusals(odd_one_out(current, old),
                    "rank 2 runs narrowcast 0.0.9 (protocol 1), and this rank 1.4.0 (protocol 1)",
                    "rank 0 runs narrowcast 1.4.0 (protocol 1), and this rank 0.0.9 (protocol 1)");
  }
}

// What rank 0 ends with when rank 1's greeting is replaced, with a stamp that fits it.
std::optional<Error> with_greeting(const Sealing& sealing,
                                   const std::function<void(Buffer&)>& change) {
  return outcomes_of(2, [&](std::unique_ptr<Transport> net) {
    const sealing::Standing standing = {net->rank(), net->size()};
    const auto forge = [&, standing](Handed& handed) {
      if (standing.rank != 1 || handed.to.channel != kGreetingChannel) return;
      change(handed.message);
      handed.stamp = sealing::checksum_envelope(standing)->close(handed.to, handed.message).stamp;
    };
    seal(std::make_unique<Meddler>(std::move(net), forge), sealing);
  })[0];
}

TEST(Greeting, RefusesAnotherProtocolAndNamesBoth) {
  const auto outcome = with_greeting(with_key(1), [](Buffer& greeting) {
    greeting[8] = std::byte{9};
    greeting.resize(60);  // whatever that protocol has behind the version
  });
  ASSERT_TRUE(outcome);
  EXPECT_EQ(Fault::peer, outcome->fault());
  EXPECT_THAT(outcome->what(), HasSubstr("(protocol 9), and this rank"));
  EXPECT_THAT(outcome->what(), HasSubstr("(protocol 1)"));
}

TEST(Greeting, RefusesEveryAlteredByte) {
  for (std::size_t place = 0; place < 128; ++place) {
    const auto outcome =
        with_greeting(with_key(1), [&](Buffer& greeting) { greeting.at(place) ^= std::byte{1}; });
    EXPECT_TRUE(outcome) << "byte " << place;
  }
}

TEST(Greeting, RefusesWhatIsNoGreeting) {
  for (const Sealing& sealing : {Sealing{}, with_key(1)})
    for (const std::size_t length : {0, 1, 43, 44, 127, 129, 1024}) {
      const auto outcome =
          with_greeting(sealing, [&](Buffer& greeting) { greeting.resize(length); });
      ASSERT_TRUE(outcome) << length;
      EXPECT_EQ(Fault::wire, outcome->fault()) << outcome->what();
      EXPECT_THAT(outcome->what(), HasSubstr("rank 1"));
    }
}

TEST(Greeting, NeverPrintsWhatCannotBePrinted) {
  const auto outcome = with_greeting({}, [](Buffer& greeting) { greeting[12] = std::byte{0x1b}; });
  ASSERT_TRUE(outcome);
  EXPECT_EQ(Fault::wire, outcome->fault());
}

TEST(Greeting, RefusesAnAlteredConfirmation) {
  const Outcomes outcomes = outcomes_of(2, [](std::unique_ptr<Transport> net) {
    const auto alter = [rank = net->rank()](Handed& handed) {
      if (rank == 1 && handed.to.channel != kGreetingChannel) handed.stamp[3] ^= std::byte{1};
    };
    seal(std::make_unique<Meddler>(std::move(net), alter), with_key(1));
  });
  ASSERT_TRUE(outcomes[0]);
  EXPECT_EQ(Fault::wire, outcomes[0]->fault());
  EXPECT_THAT(outcomes[0]->what(), HasSubstr("a message of rank 1"));
}

// Everything that rank 1 said at the start of one session, said again in the next.
TEST(Greeting, RefusesTheGreetingOfAFormerSession) {
  std::map<Channel, Handed> recorded;
  const auto record = [&](Handed& handed) { recorded[handed.to.channel] = handed; };
  const auto replay = [&](Handed& handed) { handed = recorded.at(handed.to.channel); };
  const auto session = [](const Meddler::Meddle& of_rank_one) {
    return outcomes_of(2, [&](std::unique_ptr<Transport> net) {
      const auto nothing = [](Handed&) {};
      const Meddler::Meddle meddle = net->rank() == 1 ? of_rank_one : nothing;
      seal(std::make_unique<Meddler>(std::move(net), meddle), with_key(1));
    });
  };
  const Outcomes first = session(record);
  for (const auto& outcome : first) EXPECT_FALSE(outcome) << outcome->what();
  EXPECT_EQ(2u, recorded.size());
  const Outcomes second = session(replay);
  ASSERT_TRUE(second[0]) << "the replay was accepted";
  EXPECT_EQ(Fault::wire, second[0]->fault());
  EXPECT_THAT(second[0]->what(), HasSubstr("replayed"));
}

// A rank that cannot greet is an error of those who wait for it, as anywhere.
TEST(Greeting, NamesARankThatLeavesInstead) {
  const auto outcomes = outcomes_of(3, [](std::unique_ptr<Transport> net) {
    if (net->rank() != 2) seal(std::move(net), with_key(1));
  });
  for (const int rank : {0, 1}) {
    ASSERT_TRUE(outcomes[rank]);
    EXPECT_EQ(Fault::peer, outcomes[rank]->fault());
  }
}

}  // namespace
}  // namespace narrowcast::test
