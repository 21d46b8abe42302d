#include "transport/rendezvous.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <string>
#include <thread>

#include "base/error.hpp"
#include "transport/rendezvous_session.hpp"
#include "transport/rendezvous_socket.hpp"

namespace narrowcast {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr auto kLong = 30s;  // never waited for unless a test fails

Blob blob(std::string_view text) {
  const Bytes bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

JobKey key_of(int byte) {
  JobKey key;
  key.fill(static_cast<std::byte>(byte));
  return key;
}

RendezvousOptions at(const RendezvousServer& server, std::optional<JobKey> key = std::nullopt) {
  return {.port = server.port(), .key = key};
}

template <class Call>
std::string error_of(Fault fault, Call call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), fault) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return {};
}

// A connection of somebody who does not speak as we do.
rendezvous::Socket stranger(std::uint16_t port) {
  std::string why;
  auto socket = rendezvous::connect_to({"127.0.0.1", port}, Clock::now() + kLong, why);
  EXPECT_TRUE(socket) << why;
  return *std::move(socket);
}

void expect_hung_up(const rendezvous::Socket& socket) {
  Blob ignored(1 << 16);
  EXPECT_FALSE(rendezvous::read_all(socket, ignored, Clock::now() + kLong));
}

void expect_service(const RendezvousServer& server, std::optional<JobKey> key = std::nullopt) {
  RendezvousClient client(at(server, key), Clock::now() + kLong);
  client.set("after", blob("fine"));
  EXPECT_EQ(client.get("after", Clock::now() + kLong), blob("fine"));
}

TEST(Rendezvous, HandsOverWhatAnotherRankSets) {
  const RendezvousServer server({.ranks = 2});
  std::thread other([&] {
    RendezvousClient client(at(server), Clock::now() + kLong);
    EXPECT_EQ(client.get("zero", Clock::now() + kLong), blob("address of zero"));
    client.set("one", blob("address of one"));
  });
  RendezvousClient client(at(server), Clock::now() + kLong);
  client.set("zero", blob("address of zero"));
  EXPECT_EQ(client.get("one", Clock::now() + kLong), blob("address of one"));
  other.join();
}

TEST(Rendezvous, CarriesTheLargestValueAndNoLarger) {
  const RendezvousServer server({.ranks = 1});
  RendezvousClient client(at(server), Clock::now() + kLong);
  const Blob largest(rendezvous::kLongestValue, std::byte{7});
  client.set("large", largest);
  EXPECT_EQ(client.get("large", Clock::now() + kLong), largest);
  const Blob larger(largest.size() + 1);
  error_of(Fault::usage, [&] { client.set("larger", larger); });
}

TEST(Rendezvous, SaysWhenAValueDoesNotCome) {
  const RendezvousServer server({.ranks = 1});
  RendezvousClient client(at(server), Clock::now() + kLong);
  EXPECT_EQ(client.get("never", Clock::now() + 20ms), std::nullopt);
  expect_service(server);
}

TEST(Rendezvous, RefusesASecondValueForAKey) {
  const RendezvousServer server({.ranks = 1});
  RendezvousClient client(at(server), Clock::now() + kLong);
  client.set("rank 1", blob("first"));
  EXPECT_THAT(error_of(Fault::usage, [&] { client.set("rank 1", blob("second")); }),
              HasSubstr("rank 1"));
  EXPECT_EQ(client.get("rank 1", Clock::now() + kLong), blob("first"));
}

TEST(Rendezvous, KeepsABoundedNumberOfValues) {
  const RendezvousServer server({.ranks = 1});
  RendezvousClient client(at(server), Clock::now() + kLong);
  error_of(Fault::usage, [&] {
    for (int i = 0; i < 10'000; ++i) client.set(std::to_string(i), {});
  });
}

TEST(Rendezvous, ServesThoseWithItsKey) {
  const RendezvousServer server({.ranks = 1, .key = key_of(1)});
  expect_service(server, key_of(1));
}

TEST(Rendezvous, RefusesAnotherKeyAndGoesOn) {
  const RendezvousServer server({.ranks = 1, .key = key_of(1)});
  const auto join = [&](std::optional<JobKey> key) {
    const RendezvousClient client(at(server, key), Clock::now() + kLong);
  };
  EXPECT_THAT(error_of(Fault::peer, [&] { join(key_of(2)); }),
              HasSubstr("the job key differs from rank 0's"));
  EXPECT_THAT(error_of(Fault::peer, [&] { join(std::nullopt); }),
              HasSubstr("rank 0 has a job key"));
  expect_service(server, key_of(1));
}

TEST(Rendezvous, TellsAClientWithAKeyThatRankZeroHasNone) {
  const RendezvousServer server({.ranks = 1});
  EXPECT_THAT(
      error_of(Fault::peer,
               [&] { const RendezvousClient client(at(server, key_of(1)), Clock::now() + kLong); }),
      HasSubstr("rank 0 has none"));
}

TEST(Rendezvous, HangsUpOnJunk) {
  const RendezvousServer server({.ranks = 1});
  const rendezvous::Socket junk = stranger(server.port());
  const Blob bytes(1000, std::byte{0x5a});
  rendezvous::write_all(junk, bytes, Clock::now() + kLong);
  expect_hung_up(junk);
  expect_service(server);
}

TEST(Rendezvous, HangsUpOnFramesThatAreTooLong) {
  const RendezvousServer server({.ranks = 1});
  const rendezvous::Socket junk = stranger(server.port());
  const rendezvous::Greeting hello = rendezvous::make_greeting(std::nullopt);
  const std::uint32_t length = 0xffff'ffff;
  rendezvous::write_all(junk, std::as_bytes(std::span(&hello, 1)), Clock::now() + kLong);
  rendezvous::write_all(junk, std::as_bytes(std::span(&length, 1)), Clock::now() + kLong);
  expect_hung_up(junk);
  expect_service(server);
}

// Somebody who repeats, or alters, what a rank with the key has said.
TEST(Rendezvous, HangsUpOnFramesWithoutTheRightSeal) {
  const RendezvousServer server({.ranks = 1, .key = key_of(1)});
  const rendezvous::Socket liar = stranger(server.port());
  const rendezvous::Greeting hello = rendezvous::make_greeting(key_of(1));
  rendezvous::write_all(liar, std::as_bytes(std::span(&hello, 1)), Clock::now() + kLong);
  rendezvous::Session session(rendezvous::End::client, key_of(2), hello, hello);
  Blob frame;
  session.close(rendezvous::body_of({.verb = rendezvous::Verb::set, .key = "forged"}), frame);
  rendezvous::write_all(liar, frame, Clock::now() + kLong);
  expect_hung_up(liar);
  RendezvousClient client(at(server, key_of(1)), Clock::now() + kLong);
  EXPECT_EQ(client.get("forged", Clock::now()), std::nullopt);
}

TEST(Rendezvous, IsNotFilledUpByThoseWhoSayNothing) {
  const RendezvousServer server({.ranks = 1});
  std::vector<rendezvous::Socket> silent;
  for (int i = 0; i < 100; ++i) silent.push_back(stranger(server.port()));
  expect_service(server);
}

// A greeting needs no key: only a request under it shows who has one.
TEST(Rendezvous, IsNotFilledUpByThoseWhoGreetWithoutTheKey) {
  const RendezvousServer server({.ranks = 1, .key = key_of(1)});
  std::vector<rendezvous::Socket> crowd;
  for (int i = 0; i < 100; ++i) {
    crowd.push_back(stranger(server.port()));
    const rendezvous::Greeting hello = rendezvous::make_greeting(key_of(2));
    rendezvous::write_all(crowd.back(), std::as_bytes(std::span(&hello, 1)), Clock::now() + kLong);
    Blob answer(sizeof(rendezvous::Answer));
    EXPECT_TRUE(rendezvous::read_all(crowd.back(), answer, Clock::now() + kLong));
  }
  expect_service(server, key_of(1));
}

// Byte by byte: it is given the same time as one that says nothing.
TEST(Rendezvous, HangsUpOnWhoeverDrawsOutItsGreeting) {
  const RendezvousServer server({.ranks = 1, .proof_time = 200ms});
  const rendezvous::Socket slow = stranger(server.port());
  const rendezvous::Greeting hello = rendezvous::make_greeting(std::nullopt);
  const Bytes greeting = std::as_bytes(std::span(&hello, 1));
  std::size_t said = 0;
  for (int hung_up = 0; hung_up == 0 && said + 1 < greeting.size(); ++said) {
    rendezvous::write_all(slow, greeting.subspan(said, 1), Clock::now() + kLong);
    pollfd news = {.fd = slow.fd(), .events = POLLIN, .revents = 0};
    hung_up = poll(&news, 1, 20);
  }
  EXPECT_LT(said + 1, greeting.size()) << "it was listened to until the end";
  expect_service(server);
}

// With a key, who has not shown it cannot make rank 0 keep a megabyte for each connection.
TEST(Rendezvous, KeepsLittleOfWhatStrangersSay) {
  const RendezvousServer server({.ranks = 1, .key = key_of(1)});
  const rendezvous::Socket junk = stranger(server.port());
  const rendezvous::Greeting hello = rendezvous::make_greeting(key_of(1));
  const std::uint32_t length = rendezvous::kLongestFirstBody + 1;
  rendezvous::write_all(junk, std::as_bytes(std::span(&hello, 1)), Clock::now() + kLong);
  rendezvous::write_all(junk, std::as_bytes(std::span(&length, 1)), Clock::now() + kLong);
  expect_hung_up(junk);
}

TEST(Rendezvous, NamesBothProtocolsWhereTheyDiffer) {
  const RendezvousServer server({.ranks = 1});
  const rendezvous::Socket older = stranger(server.port());
  rendezvous::Greeting hello = rendezvous::make_greeting(std::nullopt);
  hello.protocol = '1';
  rendezvous::write_all(older, std::as_bytes(std::span(&hello, 1)), Clock::now() + kLong);
  rendezvous::Answer answer;
  EXPECT_TRUE(rendezvous::read_all(older, std::as_writable_bytes(std::span(&answer, 1)),
                                   Clock::now() + kLong));
  EXPECT_EQ(rendezvous::kProtocol, answer.greeting.protocol);
  expect_hung_up(older);
}

TEST(Rendezvous, RefusesARankZeroOfAnotherProtocolAndNamesBoth) {
  const rendezvous::Socket listening = rendezvous::listen_at({"127.0.0.1", 0});
  std::thread older([&] {
    pollfd arrival = {.fd = listening.fd(), .events = POLLIN, .revents = 0};
    poll(&arrival, 1, -1);
    const rendezvous::Socket guest(accept(listening.fd(), nullptr, nullptr));
    rendezvous::Answer answer;
    answer.greeting.protocol = '1';
    rendezvous::write_all(guest, std::as_bytes(std::span(&answer, 1)), Clock::now() + kLong);
    expect_hung_up(guest);
  });
  EXPECT_EQ("rank 0 meets by protocol 1, and this rank by 2", error_of(Fault::peer, [&] {
              RendezvousClient({.port = rendezvous::port_of(listening)}, Clock::now() + kLong);
            }));
  older.join();
}

TEST(Rendezvous, ServesOneWhoAsksManyTimesAtOnceInTurn) {
  const RendezvousServer server({.ranks = 1});
  const rendezvous::Socket hasty = stranger(server.port());
  const rendezvous::Greeting hello = rendezvous::make_greeting(std::nullopt);
  const Bytes greeting = std::as_bytes(std::span(&hello, 1));
  Blob asked(greeting.begin(), greeting.end());
  rendezvous::Session session;
  for (const char* key : {"a", "b", "c"})
    session.close(rendezvous::body_of({.verb = rendezvous::Verb::set, .key = key}), asked);
  rendezvous::write_all(hasty, asked, Clock::now() + kLong);
  Blob answered(sizeof(rendezvous::Answer) + 3 * (sizeof(std::uint32_t) + 1));
  EXPECT_TRUE(rendezvous::read_all(hasty, answered, Clock::now() + kLong));
  expect_service(server);
}

// One that asks again and again and takes no reply is listened to no longer.
TEST(Rendezvous, KeepsOneReplyForThoseWhoDoNotTakeTheirs) {
  constexpr std::size_t kMoreThanSocketsHold = std::size_t{16} << 20;
  const RendezvousServer server({.ranks = 1});
  RendezvousClient client(at(server), Clock::now() + kLong);
  client.set("value", Blob(100));
  const rendezvous::Socket deaf = stranger(server.port());
  const rendezvous::Greeting hello = rendezvous::make_greeting(std::nullopt);
  rendezvous::write_all(deaf, std::as_bytes(std::span(&hello, 1)), Clock::now() + kLong);
  rendezvous::Session session;
  Blob requests;
  while (requests.size() < (std::size_t{64} << 10))
    session.close(rendezvous::body_of({.verb = rendezvous::Verb::get, .key = "value"}), requests);
  std::size_t taken = 0;
  while (taken < kMoreThanSocketsHold &&
         rendezvous::write_all(deaf, requests, Clock::now() + 500ms))
    taken += requests.size();
  EXPECT_LT(taken, kMoreThanSocketsHold);
  expect_service(server);
}

TEST(Rendezvous, RestsWhileThereAreNoDescriptors) {
  const RendezvousServer server({.ranks = 1});
  rlimit before = {};
  getrlimit(RLIMIT_NOFILE, &before);
  rlimit few = before;
  few.rlim_cur = 64;
  setrlimit(RLIMIT_NOFILE, &few);
  std::vector<rendezvous::Socket> used;
  do {
    used.emplace_back(dup(STDIN_FILENO));
  } while (used.back());
  used.resize(used.size() - 2);  // one failed, and the next goes to the newcomer
  const rendezvous::Socket newcomer = stranger(server.port());
  const std::clock_t begun = std::clock();
  Blob nothing(1);
  EXPECT_FALSE(rendezvous::read_all(newcomer, nothing, Clock::now() + 400ms));
  EXPECT_LT(std::clock() - begun, CLOCKS_PER_SEC / 10);
  used.clear();
  setrlimit(RLIMIT_NOFILE, &before);
  expect_service(server);
}

TEST(Rendezvous, WaitsForAServerThatStartsLater) {
  std::uint16_t port = 0;
  { port = RendezvousServer({.ranks = 1}).port(); }
  std::thread client([&] {
    RendezvousClient early({.port = port}, Clock::now() + kLong);
    early.set("early", blob("bird"));
  });
  const RendezvousServer server({.port = port, .ranks = 1});
  client.join();
}

TEST(Rendezvous, NamesTheAddressThatNobodyAnswersAt) {
  std::uint16_t port = 0;
  { port = RendezvousServer({.ranks = 1}).port(); }
  const std::string text = error_of(
      Fault::peer, [&] { const RendezvousClient client({.port = port}, Clock::now() + 50ms); });
  EXPECT_THAT(text, HasSubstr("127.0.0.1:" + std::to_string(port)));
  EXPECT_THAT(text, HasSubstr("rank 0"));
}

TEST(Rendezvous, NamesTheAddressThatCannotBeBound) {
  const RendezvousServer server({.ranks = 1});
  EXPECT_THAT(
      error_of(Fault::system, [&] { const RendezvousServer second({.port = server.port()}); }),
      HasSubstr("127.0.0.1:" + std::to_string(server.port())));
}

TEST(Rendezvous, TakesOverAListeningSocket) {
  rendezvous::Socket bound = rendezvous::listen_at({"127.0.0.1", 0});
  const RendezvousServer server({.ranks = 1, .listening = dup(bound.fd())});
  EXPECT_EQ(server.port(), rendezvous::port_of(bound));
  expect_service(server);
}

TEST(Rendezvous, RefusesToTakeOverWhatDoesNotListen) {
  EXPECT_THAT(error_of(Fault::usage, [] { const RendezvousServer server({.listening = 987}); }),
              HasSubstr("987"));
}

TEST(Rendezvous, TellsItsClientsWhenItGoes) {
  auto server = std::make_unique<RendezvousServer>(RendezvousOptions{.ranks = 1});
  RendezvousClient client(at(*server), Clock::now() + kLong);
  server.reset();
  EXPECT_THAT(error_of(Fault::peer, [&] { client.get("anything", Clock::now() + kLong); }),
              HasSubstr("rank 0"));
}

TEST(MeetingPlace, IsReadFromItsText) {
  const MeetingPlace tcp = parse_meeting_place("tcp://host.example:29501");
  EXPECT_EQ(tcp.kind, Meeting::tcp);
  EXPECT_EQ(tcp.host, "host.example");
  EXPECT_EQ(tcp.port, 29501);
  EXPECT_EQ(parse_meeting_place("tcp://[::1]:7").host, "::1");
  EXPECT_EQ(parse_meeting_place("file:///a/b").path, "/a/b");
  const MeetingPlace redis = parse_meeting_place("redis://10.0.0.1:6379/job-7");
  EXPECT_EQ(redis.kind, Meeting::redis);
  EXPECT_EQ(redis.port, 6379);
  EXPECT_EQ(redis.path, "job-7");
}

TEST(MeetingPlace, RefusesWhatItCannotRead) {
  for (const char* text :
       {"", "tcp://", "tcp://host", "tcp://host:", "tcp://host:70000", "tcp://:80", "tcp://::1:80",
        "file://here", "http://host:80", "tcp://host:80x", "redis://host"})
    EXPECT_THAT(error_of(Fault::usage, [&] { parse_meeting_place(text); }), HasSubstr("tcp://"))
        << text;
}

}  // namespace
}  // namespace narrowcast
