#include "transport/agree.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/version.hpp"
#include "tests/transport/outcomes.hpp"
#include "transport/meet.hpp"

namespace narrowcast::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using Terms = std::vector<Term>;

Outcomes agreement(int ranks, const std::function<Terms(int rank)>& terms) {
  return outcomes_of(ranks, [&](std::unique_ptr<Transport> net) {
    const Terms own = terms(net->rank());
    agree(*net, own);
  });
}

void expect_error(const std::optional<Error>& outcome, const std::string& text) {
  ASSERT_TRUE(outcome) << "no error: " << text;
  EXPECT_EQ(Fault::peer, outcome->fault());
  EXPECT_EQ(text, outcome->what());
}

TEST(Agree, AcceptsEqualTermsOnAnyNumberOfRanks) {
  std::string plan(5000, 'p');
  plan += "\n\x01";
  Terms same = {{"seed", "7"}, {"plan", plan}, {"empty", ""}};
  for (const int ranks : {1, 2, 5, 64})
    for (const auto& outcome : agreement(ranks, [&](int) { return same; }))
      EXPECT_FALSE(outcome) << outcome->what();
  for (const auto& outcome : agreement(3, [&](int) { return Terms{}; })) EXPECT_FALSE(outcome);
}

TEST(Agree, TellsEveryRankWhoDiffersInWhat) {
  const auto outcomes = agreement(4, [](int rank) {
    return Terms{{"plan", "dynamic8"}, {"seed", rank == 2 ? "8" : "7"}};
  });
  for (const int rank : {0, 1, 3})
    expect_error(outcomes[rank], "rank 2 differs in seed: 8 there, 7 here");
  expect_error(outcomes[2],
               "rank 0 differs in seed: 7 there, 8 here (other ranks that differ: 1, 3)");
}

TEST(Agree, ComparesMoreThanItShows) {
  const std::string long_text(200, 'x');
  const auto outcomes = agreement(2, [&](int rank) {
    return Terms{{"plan", long_text + std::to_string(rank)}};
  });
  expect_error(outcomes[0],
               "rank 1 differs in plan: 201 characters there, 201 here, of which the first 80 are "
               "the same");
}

TEST(Agree, RefusesOtherTerms) {
  const auto names = agreement(2, [](int rank) {
    return Terms{{rank == 0 ? "seed" : "sled", ""}};
  });
  expect_error(names[0], "rank 1 differs in what it compares: sled there, seed here");
  const auto number = agreement(2, [](int rank) {
    return rank == 0 ? Terms{} : Terms{{"seed", "7"}};
  });
  expect_error(number[0], "rank 1 differs in what it compares: 1 terms there, 0 here");
  expect_error(number[1], "rank 0 differs in what it compares: 0 terms there, 1 here");
}

// Such a difference must be shown without being obeyed.
TEST(Agree, PrintsNothingThatATerminalObeys) {
  const auto outcomes = agreement(2, [](int rank) {
    return Terms{{"plan", rank == 0 ? "a" : "\x1b[2J\xff"}};
  });
  expect_error(outcomes[0], "rank 1 differs in plan: ?[2J? there, a here");
}

TEST(Agree, RefusesTermsThatDoNotFit) {
  const auto fault_of = [](const Terms& terms) {
    const auto outcome = agreement(1, [&](int) { return terms; })[0];
    return outcome ? std::optional(outcome->fault()) : std::nullopt;
  };
  EXPECT_EQ(Fault::usage, fault_of({{"", "nameless"}}));
  EXPECT_EQ(Fault::usage, fault_of({{"a\nb", ""}}));
  EXPECT_EQ(Fault::usage, fault_of({{std::string(65, 'n'), ""}}));
  EXPECT_EQ(Fault::usage, fault_of(Terms(65, Term{"n", ""})));
  EXPECT_EQ(std::nullopt, fault_of(Terms(64, Term{std::string(64, 'n'), std::string(999, 't')})));
}

// What rank 0 ends with when rank 1's manifest is changed on its way.
std::optional<Error> with_manifest(const std::function<void(Buffer&)>& change) {
  return outcomes_of(2, [&](std::unique_ptr<Transport> net) {
    const int rank = net->rank();
    Meddler meddler(std::move(net), [&, rank](Handed& handed) {
      if (rank == 1) change(handed.message);
    });
    agree(meddler, Terms{{"seed", "7"}, {"plan", "dynamic8"}});
  })[0];
}

std::size_t manifest_length() {
  std::size_t length = 0;
  with_manifest([&](Buffer& manifest) { length = manifest.size(); });
  return length;
}

TEST(Agree, RefusesAnOldVersionAndNamesBoth) {
  const auto outcome = with_manifest([](Buffer& manifest) { manifest[16] = std::byte{'9'}; });
  const std::string here(version());
  expect_error(outcome, "rank 1 differs in version: narrowcast 9" + here.substr(1) +
                            " (protocol 1) there, " + here + " (1) here");
  const auto protocol = with_manifest([](Buffer& manifest) { manifest[8] = std::byte{4}; });
  ASSERT_TRUE(protocol);
  EXPECT_THAT(protocol->what(), AllOf(HasSubstr("(protocol 4) there"), HasSubstr("(1) here")));
}

TEST(Agree, RefusesManifestsOfAnyOtherLength) {
  for (std::size_t length = 0; length < manifest_length() + 3; ++length) {
    if (length == manifest_length()) continue;
    const auto outcome = with_manifest([&](Buffer& manifest) { manifest.resize(length); });
    ASSERT_TRUE(outcome) << length;
    EXPECT_EQ(Fault::wire, outcome->fault()) << outcome->what();
    EXPECT_THAT(outcome->what(), HasSubstr("rank 1"));
  }
}

TEST(Agree, RefusesAnyAlteredByte) {
  for (std::size_t place = 0; place < manifest_length(); ++place)
    for (const int change : {0x01, 0x80, 0xff}) {
      const auto outcome = with_manifest(
          [&](Buffer& manifest) { manifest[place] ^= static_cast<std::byte>(change); });
      EXPECT_TRUE(outcome) << "byte " << place << " changed by " << change;
    }
}

TEST(Agree, RefusesAListThatIsTooLong) {
  const auto outcome = with_manifest([](Buffer& manifest) { manifest.resize(100'000); });
  ASSERT_TRUE(outcome);
  EXPECT_EQ(Fault::wire, outcome->fault());
}

}  // namespace
}  // namespace narrowcast::test
