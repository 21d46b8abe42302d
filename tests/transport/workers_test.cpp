#include "transport/workers.hpp"

#include <gmock/gmock.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "base/error.hpp"
#include "tests/support/places.hpp"
#include "tests/transport/job.hpp"

namespace narrowcast::test {
namespace {

using testing::HasSubstr;
using testing::UnorderedElementsAre;

Staffing shell(int ranks, const std::string& script) {
  Staffing staffing;
  staffing.ranks = ranks;
  staffing.program = "/bin/sh";
  staffing.words = {"-c", script};
  return staffing;
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> all;
  for (std::size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string::npos;
       begin = end + 1)
    all.push_back(text.substr(begin, end - begin));
  return all;
}

TEST(Workers, KnowTheirPlace) {
  Staffing staffing = shell(2,
                            "echo $RANK $WORLD_SIZE $LOCAL_RANK $LOCAL_WORLD_SIZE "
                            "$NARROWCAST_TRANSPORT $NARROWCAST_RENDEZVOUS $A $B >&2");
  staffing.transport = "shm";
  staffing.rendezvous = "fd:9";
  staffing.everyone.environment = {{"A", "all"}};
  staffing.rank0.environment = {{"B", "first"}};
  const Report report = run_job(staffing);
  EXPECT_EQ(report.outcome.exit_code(), 0);
  EXPECT_THAT(lines(report.err), UnorderedElementsAre("rank 0: 0 2 0 2 shm fd:9 all first",
                                                      "rank 1: 1 2 1 2 shm fd:9 all"));
}

TEST(Workers, ShowTheOutputOfRankZeroOnly) {
  EXPECT_EQ(run_job(shell(3, "echo from $RANK")).out, "from 0\n");
}

TEST(Workers, DoNotMixTheirLines) {
  const Report report = run_job(shell(
      3,
      "for i in 1 2 3 4 5 6 7 8 9; do printf 'a%d' $i >&2; printf 'b\\n' >&2; done; printf end "
      ">&2"));
  const std::vector<std::string> all = lines(report.err);
  EXPECT_EQ(all.size(), 30u);
  for (const std::string& line : all)
    EXPECT_THAT(line, testing::MatchesRegex("rank [012]: (a[1-9]b|end)"));
}

TEST(Workers, InheritTheDescriptorsTheyAreGivenAndNoOthers) {
  Pipe pipe;
  Staffing staffing =
      shell(2, "test -e /proc/self/fd/" + std::to_string(pipe.reading.get()) +
                   " && echo $RANK has it >&2; test -e /proc/self/fd/" +
                   std::to_string(pipe.writing.get()) + " && echo too much >&2; true");
  staffing.rank0.descriptors = {pipe.reading.get()};
  EXPECT_EQ(run_job(staffing).err, "rank 0: 0 has it\n");
}

TEST(Workers, EndWithTheCodeOfTheFirstThatFailedByItself) {
  const Report report =
      run_job(shell(3, "case $RANK in 1) kill -9 $$;; 2) exit 0;; *) exit 4;; esac"));
  EXPECT_EQ(report.outcome.endings[0].code, 4);
  EXPECT_EQ(report.outcome.endings[1].signal, SIGKILL);
  EXPECT_FALSE(report.outcome.endings[2].failed());
  EXPECT_EQ(report.outcome.exit_code(), 4);
}

TEST(Workers, EndAsIfAPeerHadDiedWhenTheyWereOnlyKilled) {
  const Report report = run_job(shell(2, "test $RANK = 1 && kill -9 $$; true"));
  EXPECT_EQ(report.outcome.exit_code(), 4);
  EXPECT_EQ(report.outcome.first_failed(), 1);
}

TEST(Workers, GetAGracePeriodAfterAFailureAndAreKilledThen) {
  Staffing staffing = shell(2, "test $RANK = 1 && exit 7; exec tail -f /dev/null");
  staffing.grace = std::chrono::milliseconds(100);
  const Report report = run_job(staffing);
  EXPECT_EQ(report.outcome.endings[0].signal, SIGKILL);
  EXPECT_EQ(report.outcome.first_failed(), 1);
  EXPECT_EQ(report.outcome.exit_code(), 7);
  EXPECT_GE(report.took, staffing.grace);
}

TEST(Workers, AreNotKilledWhileAllIsWell) {
  // Rank 0 ends at once; rank 1 waits for the end of a pipe that nobody else knows of.
  Pipe pipe;
  Staffing staffing =
      shell(2, "test $RANK = 0 || cat <&" + std::to_string(pipe.reading.get()) + " >&2");
  staffing.grace = std::chrono::milliseconds(1);
  staffing.everyone.descriptors = {pipe.reading.get()};
  ASSERT_EQ(write(pipe.writing.get(), "late\n", 5), 5);
  pipe.writing.close();
  const Report report = run_job(staffing);
  EXPECT_EQ(report.outcome.exit_code(), 0);
  EXPECT_EQ(report.err, "rank 1: late\n");
}

TEST(Workers, ThatCannotBeStartedAreASystemFault) {
  Staffing staffing;
  staffing.program = "/nonexistent/program";
  try {
    const Workers workers(staffing);
    FAIL() << "it started";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::system);
    EXPECT_THAT(error.what(), HasSubstr("/nonexistent/program: No such file"));
  }
}

TEST(Workers, AreAskedToStopWhenTheirLauncherIs) {
  Staffing staffing = shell(2,
                            "trap 'echo stopping >&2; exit 3' TERM; echo ready; "
                            "while :; do tail -f /dev/null & wait $!; done");
  Pipe pipe;
  staffing.ranks = 1;
  staffing.out = pipe.writing.get();
  Workers workers(staffing);
  char ready[6];
  ASSERT_EQ(read(pipe.reading.get(), ready, sizeof ready), 6);
  raise(SIGTERM);  // to this thread, from which it is kept while there are workers
  const Outcome outcome = workers.wait();
  EXPECT_EQ(outcome.interrupted, SIGTERM);
  EXPECT_EQ(outcome.endings[0].code, 3);
  EXPECT_EQ(outcome.exit_code(), 128 + SIGTERM);
}

TEST(Workers, EndWithTheirLauncherHoweverThatEnds) {
  Pipe pipe;
  Staffing staffing;
  staffing.program = shm_rank_file();
  staffing.words = {"launch", "60000"};
  staffing.out = pipe.writing.get();
  Workers launcher(staffing);
  char text[64] = {};
  ASSERT_GT(read(pipe.reading.get(), text, sizeof text - 1), 0);
  int pids[2];
  ASSERT_EQ(std::sscanf(text, "%d %d", &pids[0], &pids[1]), 2);
  const Descriptor first(static_cast<int>(syscall(SYS_pidfd_open, pids[0], 0)));
  const Descriptor second(static_cast<int>(syscall(SYS_pidfd_open, pids[1], 0)));
  ASSERT_TRUE(first.is_open() && second.is_open());
  kill(launcher.pid(0), SIGKILL);
  EXPECT_EQ(launcher.wait().endings[0].signal, SIGKILL);
  for (const Descriptor* process : {&first, &second}) {
    pollfd end = {.fd = process->get(), .events = POLLIN, .revents = 0};
    EXPECT_EQ(poll(&end, 1, 5000), 1);
  }
}

}  // namespace
}  // namespace narrowcast::test
