#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <random>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "tests/support/gloo_ranks.hpp"

// Ranks as processes, some of which come to harm.
namespace narrowcast {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using testing::HasSubstr;

constexpr auto kAtOnce = 2s;  // what the project promises for the death of a rank
constexpr auto kShort = 2s;   // a timeout that a loaded machine still keeps

using Body = void (*)(Transport& net);

// Another rank, forked off before this process has threads. Ends with 0 when its body does, with 4
// on Fault::peer and prints what that said.
class Process {
 public:
  Process(const test::Connect& connect, int rank, Body body) : pid_(fork()) {
    if (pid_ == 0) _exit(run(connect, rank, body));
  }
  ~Process() {
    if (pid_ > 0) finish(SIGKILL);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  void signal(int number) const { kill(pid_, number); }

  int wait() {
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  static int run(const test::Connect& connect, int rank, Body body) {
    try {
      const auto net = connect(rank);
      body(*net);
      return 0;
    } catch (const Error& error) {
      return error.fault() == Fault::peer ? 4 : 5;
    } catch (...) {
      return 6;
    }
  }

  void finish(int number) {
    signal(number);
    wait();
  }

  pid_t pid_;
};

class GlooProcess : public testing::Test {
 protected:
  void SetUp() override {
    if (!test::has_gloo()) GTEST_SKIP() << "the gloo module was not built: libgloo-dev is missing";
  }
};

void say_ready(Transport& net) { net.send({0, 0, 0}, {}).wait(); }
void hear_ready(Transport& net, int peer) { net.receive({peer, 0, 0}, {}).wait(); }

void wait_for_ever(Transport& net) {
  say_ready(net);
  net.receive({0, 1, 0}, {}).wait();
}

// Streams to rank 0 without end.
void pour(Transport& net) {
  const std::vector<std::byte> message(3'000'000, std::byte{1});
  for (std::uint64_t i = 0;; ++i) net.send({0, 2, i}, message).wait();
}

// What a wait of rank 0's throws, and that it does so soon.
template <class Call>
std::string fault_of(Clock::duration within, Call call) {
  const auto start = Clock::now();
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::peer) << error.what();
    EXPECT_LT(Clock::now() - start, within);
    return error.what();
  }
  return "no fault";
}

TEST_F(GlooProcess, ThatDiesIsFoundAtOnce) {
  const test::Connect connect = test::meet_gloo(2, test::kTestTimeout);
  Process other(connect, 1, wait_for_ever);
  const auto net = connect(0);
  hear_ready(*net, 1);
  other.signal(SIGKILL);
  std::byte buffer;
  EXPECT_THAT(fault_of(kAtOnce,
                       [&] {
                         net->receive({1, 1, 0}, {&buffer, 1}).wait();
                       }),
              HasSubstr("rank 1 died"));
  EXPECT_THAT(fault_of(kAtOnce,
                       [&] {
                         net->send({1, 1, 0}, {}).wait();
                       }),
              HasSubstr("rank 1 died"));
}

// In the middle of frames, where Gloo itself goes on waiting.
TEST_F(GlooProcess, ThatDiesInTheMiddleOfAMessageIsFoundAtOnce) {
  std::mt19937 dice(7);
  for (int round = 0; round < 20; ++round) {
    const test::Connect connect = test::meet_gloo(2, test::kTestTimeout);
    Process other(connect, 1, pour);
    const auto net = connect(0);
    std::vector<std::byte> buffer(3'000'000);
    const std::uint64_t whole = dice() % 4;
    for (std::uint64_t i = 0; i < whole; ++i) net->receive({1, 2, i}, buffer).wait();
    other.signal(SIGKILL);
    EXPECT_THAT(fault_of(kAtOnce,
                         [&] {
                           for (std::uint64_t i = whole;; ++i)
                             net->receive({1, 2, i}, buffer).wait();
                         }),
                HasSubstr("rank 1 died"));
  }
}

TEST_F(GlooProcess, ThatDiesEndsThoseWhoSendToIt) {
  const test::Connect connect = test::meet_gloo(2, test::kTestTimeout);
  Process other(connect, 1, wait_for_ever);
  const auto net = connect(0);
  hear_ready(*net, 1);
  other.signal(SIGSTOP);
  const std::vector<std::byte> message(3'000'000);
  std::vector<Ticket> sends;
  // As much as fits without blocking, then die under what is on its way.
  sends.push_back(net->send({1, 2, 0}, message));
  other.signal(SIGKILL);
  EXPECT_THAT(fault_of(kAtOnce,
                       [&] {
                         for (std::uint64_t i = 1;; ++i) net->send({1, 2, i}, message).wait();
                       }),
              HasSubstr("rank 1 died"));
}

TEST_F(GlooProcess, ThatIsSilentIsGivenUpAfterTheTimeout) {
  const test::Connect connect = test::meet_gloo(2, kShort);
  Process other(connect, 1, wait_for_ever);
  const auto net = connect(0);
  hear_ready(*net, 1);
  other.signal(SIGSTOP);
  EXPECT_THAT(fault_of(kShort + kAtOnce,
                       [&] {
                         net->receive({1, 3, 0}, {}).wait();
                       }),
              HasSubstr("rank 1 has been silent for 2 s"));
}

TEST_F(GlooProcess, ThatSaysNothingButIsAliveIsWaitedFor) {
  const test::Connect connect = test::meet_gloo(2, kShort);
  Process other(connect, 1, [](Transport& net) {
    // Longer than the timeout: computing, as far as anybody can tell.
    net.receive({0, 1, 0}, {}).wait();
    net.send({0, 2, 0}, {}).wait();
  });
  const auto net = connect(0);
  const Ticket never = net->receive({1, 9, 0}, {});
  const auto later = Clock::now() + kShort + kShort / 2;
  while (Clock::now() < later) std::this_thread::yield();
  net->send({1, 1, 0}, {}).wait();
  net->receive({1, 2, 0}, {}).wait();
  EXPECT_EQ(other.wait(), 0);
}

TEST_F(GlooProcess, ThatDiesEndsAllTheOthers) {
  const test::Connect connect = test::meet_gloo(4, test::kTestTimeout);
  Process one(connect, 1, wait_for_ever);
  Process two(connect, 2, wait_for_ever);
  Process three(connect, 3, wait_for_ever);
  const auto net = connect(0);
  for (const int peer : {1, 2, 3}) hear_ready(*net, peer);
  two.signal(SIGKILL);
  EXPECT_THAT(fault_of(kAtOnce,
                       [&] {
                         net->receive({1, 1, 0}, {}).wait();
                       }),
              HasSubstr("rank 2 died"));
  EXPECT_EQ(one.wait(), 4);
  EXPECT_EQ(three.wait(), 4);
}

TEST_F(GlooProcess, ThatEndsInGoodOrderLeavesNothingBehind) {
  const test::Connect connect = test::meet_gloo(2, test::kTestTimeout);
  Process other(connect, 1, [](Transport& net) {
    const std::vector<std::byte> message(20'000'000, std::byte{9});
    net.send({0, 1, 0}, message).wait();
  });
  const auto net = connect(0);
  EXPECT_EQ(other.wait(), 0);  // before anything has been received
  std::vector<std::byte> buffer(20'000'000);
  EXPECT_EQ(net->receive({1, 1, 0}, buffer).wait().length, buffer.size());
  EXPECT_EQ(buffer.back(), std::byte{9});
  EXPECT_THAT(fault_of(kAtOnce,
                       [&] {
                         net->receive({1, 1, 1}, {}).wait();
                       }),
              HasSubstr("rank 1 left"));
}

}  // namespace
}  // namespace narrowcast
