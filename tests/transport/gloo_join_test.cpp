#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <numeric>
#include <thread>

#include "base/error.hpp"
#include "tests/support/gloo_ranks.hpp"
#include "transport/join.hpp"
#include "transport/module.hpp"
#include "transport/rendezvous.hpp"
#include "transport/rendezvous_socket.hpp"

namespace narrowcast {
namespace {

using namespace std::chrono_literals;
using test::kTestTimeout;
using testing::HasSubstr;

// A variable that is set for as long as this lives.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    setenv(name, value.c_str(), 1);
  }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

class GlooJoin : public testing::Test {
 protected:
  void SetUp() override {
    if (!test::has_gloo()) GTEST_SKIP() << "the gloo module was not built: libgloo-dev is missing";
  }

  static Joining joining(int rank, int ranks, const std::string& rendezvous) {
    Joining out;
    out.place = {rank, ranks, rank, ranks};
    out.rendezvous = rendezvous;
    out.timeout = kTestTimeout;
    return out;
  }

  // Each rank says its number to the next.
  static void expect_ring(const test::Connect& connect, int ranks) {
    test::on_ranks(connect, ranks, [](Transport& net) {
      const int next = (net.rank() + 1) % net.size();
      const int previous = (net.rank() + net.size() - 1) % net.size();
      const int mine = net.rank();
      int theirs = -1;
      Ticket sent = net.send({next, 0, 0}, std::as_bytes(std::span(&mine, 1)));
      net.receive({previous, 0, 0}, std::as_writable_bytes(std::span(&theirs, 1))).wait();
      sent.wait();
      EXPECT_EQ(theirs, previous);
    });
  }

  static void expect_ring(const std::string& rendezvous, int ranks) {
    expect_ring(
        [=](int rank) { return transport_row("gloo").join(joining(rank, ranks, rendezvous)); },
        ranks);
  }

  static std::string refusal_of(Fault fault, const Joining& joining) {
    try {
      transport_row("gloo").join(joining);
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), fault) << error.what();
      return error.what();
    }
    return "joined";
  }
};

// A listening socket for rank 0, as a launcher would hand it down.
struct Handed {
  rendezvous::Socket socket = rendezvous::listen_at({"127.0.0.1", 0});
  std::string place = "tcp://127.0.0.1:" + std::to_string(rendezvous::port_of(socket));
  Variable variable{"NARROWCAST_LISTEN_FD", std::to_string(dup(socket.fd()))};
};

TEST_F(GlooJoin, MeetsOverTcp) {
  const Handed handed;
  expect_ring(handed.place, 3);
}

TEST_F(GlooJoin, MeetsAtAPortThatRankZeroBinds) {
  std::uint16_t port = 0;
  { port = RendezvousServer({.ranks = 1}).port(); }
  expect_ring("tcp://127.0.0.1:" + std::to_string(port), 2);
}

TEST_F(GlooJoin, MeetsOverIpv6) {
  rendezvous::Socket socket;
  try {
    socket = rendezvous::listen_at({"::1", 0});
  } catch (const Error&) {
    GTEST_SKIP() << "there is no IPv6 here";
  }
  const Variable handed("NARROWCAST_LISTEN_FD", std::to_string(dup(socket.fd())));
  expect_ring("tcp://[::1]:" + std::to_string(rendezvous::port_of(socket)), 2);
}

TEST_F(GlooJoin, CanMeetInTheSameFolderAgain) {
  const test::TempFolder folder;
  const std::string place = "file://" + folder.path().string();
  expect_ring(place, 2);
  expect_ring(place, 3);
}

TEST_F(GlooJoin, RefusesAFolderThatAnotherRunHasLeftThingsIn) {
  const test::TempFolder folder;
  Joining alone = joining(0, 2, "file://" + folder.path().string());
  alone.timeout = 100ms;
  EXPECT_THAT(refusal_of(Fault::peer, alone), HasSubstr("rank 1 did not come within 0.1 s"));
  EXPECT_THAT(refusal_of(Fault::usage, alone), HasSubstr("rank 0 of another run"));
}

TEST_F(GlooJoin, NamesAllThatDoNotCome) {
  const Handed handed;
  Joining alone = joining(0, 4, handed.place);
  alone.timeout = 100ms;
  EXPECT_THAT(refusal_of(Fault::peer, alone), HasSubstr("ranks 1, 2 and 3 did not come"));
}

// Each of them is told, or finds out, whichever of the two it was that noticed first and left.
TEST_F(GlooJoin, NamesOnAllRanksTheOneThatCameAndIsGone) {
  for (int round = 0; round < 4; ++round) {  // who connects to whom is a matter of chance
    const test::TempFolder folder;
    const auto with_timeout = [&](int rank, std::chrono::milliseconds timeout) {
      Joining out = joining(rank, 3, "file://" + folder.path().string());
      out.timeout = timeout;
      return out;
    };
    // It leaves its addresses in the folder, where nobody listens any more.
    EXPECT_THAT(refusal_of(Fault::peer, with_timeout(1, 100ms)),
                HasSubstr("ranks 0 and 2 did not come"));
    std::string of_zero;
    std::thread zero([&] { of_zero = refusal_of(Fault::peer, with_timeout(0, 2s)); });
    const std::string of_two = refusal_of(Fault::peer, with_timeout(2, 2s));
    zero.join();
    EXPECT_THAT(of_zero, HasSubstr("rank 1 cannot be reached"));
    EXPECT_THAT(of_two, HasSubstr("rank 1 cannot be reached"));
  }
}

TEST_F(GlooJoin, RefusesAnotherJobKey) {
  const Handed handed;
  const auto with_key = [&](int rank, int byte) {
    Joining out = joining(rank, 2, handed.place);
    out.key.emplace().fill(static_cast<std::byte>(byte));
    out.timeout = 2s;
    return out;
  };
  std::string of_zero;
  std::thread zero([&] { of_zero = refusal_of(Fault::peer, with_key(0, 1)); });
  EXPECT_THAT(refusal_of(Fault::peer, with_key(1, 2)),
              HasSubstr("the job key differs from rank 0's"));
  zero.join();
  EXPECT_THAT(of_zero, HasSubstr("rank 1 did not come"));
}

TEST_F(GlooJoin, RefusesInterfacesThatAreNone) {
  const test::TempFolder folder;
  const Variable name("GLOO_SOCKET_IFNAME", "narrow0");
  const std::string text =
      refusal_of(Fault::usage, joining(0, 2, "file://" + folder.path().string()));
  EXPECT_THAT(text, HasSubstr("'narrow0'"));
  EXPECT_THAT(text, HasSubstr("lo"));
}

TEST_F(GlooJoin, UsesTheInterfaceItIsGiven) {
  const Variable name("GLOO_SOCKET_IFNAME", "lo");
  expect_ring(test::meet_gloo(2, kTestTimeout), 2);
}

TEST_F(GlooJoin, RefusesAPlaceItCannotRead) {
  EXPECT_THAT(refusal_of(Fault::usage, joining(0, 2, "here")), HasSubstr("tcp://HOST:PORT"));
}

TEST_F(GlooJoin, IsNothingSpecialForOneRank) {
  const auto net = transport_row("gloo").join(joining(0, 1, ""));
  float value = 3;
  net->engine_all_reduce(std::span(&value, 1));
  EXPECT_EQ(value, 3);
}

TEST_F(GlooJoin, AddsUpWithTheEngine) {
  constexpr int kRanks = 3;
  for (const std::size_t count : {1u, 1000u, 1'000'003u})
    test::on_ranks(test::meet_gloo(kRanks, kTestTimeout), kRanks, [=](Transport& net) {
      std::vector<float> values(count);
      for (std::size_t i = 0; i < count; ++i)
        values[i] = static_cast<float>(i % 1000 + static_cast<std::size_t>(net.rank()));
      net.engine_all_reduce(values);
      for (std::size_t i = 0; i < count; ++i)
        ASSERT_EQ(values[i], static_cast<float>(i % 1000 * kRanks + 3)) << i;
    });
}

// A server of the test's own, ended when this goes.
class RedisServer {
 public:
  explicit RedisServer(const std::filesystem::path& folder, std::uint16_t port) {
    const std::string port_text = std::to_string(port);
    const std::string where = folder.string();
    const char* arguments[] = {
        "redis-server", "--port",      port_text.c_str(), "--bind",    "127.0.0.1", "--save", "",
        "--dir",        where.c_str(), "--logfile",       "redis.log", nullptr};
    started_ = posix_spawnp(&pid_, arguments[0], nullptr, nullptr, const_cast<char**>(arguments),
                            environ) == 0;
  }
  ~RedisServer() {
    if (!started_) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;

  bool started() const { return started_; }

 private:
  pid_t pid_ = 0;
  bool started_ = false;
};

TEST_F(GlooJoin, MeetsThroughRedis) {
  const test::TempFolder folder;
  std::uint16_t port = 0;
  { port = RendezvousServer({.ranks = 1}).port(); }
  const RedisServer redis(folder.path(), port);
  if (!redis.started()) GTEST_SKIP() << "redis-server is not installed";
  const std::string place = "redis://127.0.0.1:" + std::to_string(port) + "/job";
  expect_ring(place, 3);
  expect_ring(place, 2);  // the keys of the first meeting are gone
}

TEST(Modules, ThatAreMissingAreNamedWithTheirPackage) {
  try {
    join_module({.name = "nowhere", .package = "libnowhere-dev"}, {});
    FAIL() << "joined";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::usage);
    EXPECT_THAT(error.what(), HasSubstr("apt-get install libnowhere-dev"));
  }
}

TEST(Modules, ThatCannotBeLoadedSayWhy) {
  const test::TempFolder folder;
  const Variable where("NARROWCAST_MODULES", folder.path().string());
  close(open((folder.path() / "narrowcast_empty.so").c_str(), O_CREAT | O_WRONLY, 0600));
  try {
    join_module({.name = "empty", .package = "libempty-dev"}, {});
    FAIL() << "joined";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::usage);
    EXPECT_THAT(error.what(), HasSubstr("file too short"));
  }
}

TEST(Modules, OfAnotherVersionAreRefused) {
  try {
    check_module_version("gloo", "0.0.0");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::usage);
    EXPECT_THAT(error.what(), HasSubstr("0.0.0"));
  }
}

}  // namespace
}  // namespace narrowcast
