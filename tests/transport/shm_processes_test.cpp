#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>

#include "tests/support/places.hpp"
#include "tests/transport/contract.hpp"
#include "tests/transport/job.hpp"
#include "transport/shm.hpp"

// What the ranks of a real job do when one of them comes to grief.
namespace narrowcast::test {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::Not;

constexpr milliseconds kTimeout = std::chrono::seconds(60);

Staffing job(const ShmSegment& segment, int ranks, const std::string& role,
             milliseconds timeout = kTimeout) {
  Staffing staffing;
  staffing.ranks = ranks;
  staffing.program = shm_rank_file();
  staffing.words = {role, std::to_string(timeout.count())};
  staffing.transport = "shm";
  staffing.rendezvous = segment.rendezvous();
  staffing.everyone.descriptors = {segment.fd()};
  return staffing;
}

Report run(int ranks, const std::string& role, milliseconds timeout = kTimeout) {
  const ShmSegment segment(ranks);
  return run_job(job(segment, ranks, role, timeout));
}

// Ranks 0 and 2 ended with the code of Fault::peer.
void expect_survivors_noticed(const Report& report) {
  EXPECT_EQ(report.outcome.endings[0].code, 4) << report.err;
  EXPECT_EQ(report.outcome.endings[2].code, 4) << report.err;
  EXPECT_EQ(report.outcome.exit_code(), 4);
}

TEST(ShmProcesses, FindADeadRankAtOnce) {
  const Report report = run(3, "be killed");
  expect_survivors_noticed(report);
  EXPECT_EQ(report.outcome.endings[1].signal, SIGKILL);
  EXPECT_THAT(report.err, HasSubstr("rank 0: rank 1 died\n"));
  EXPECT_THAT(report.err, HasSubstr("rank 2: rank 1 died\n"));
  EXPECT_LT(report.took, milliseconds(2000));
}

TEST(ShmProcesses, FindARankThatExitsWithoutLeaving) {
  const Report report = run(3, "exit");
  expect_survivors_noticed(report);
  EXPECT_THAT(report.err, HasSubstr("rank 2: rank 1 died\n"));
  EXPECT_LT(report.took, milliseconds(2000));
}

TEST(ShmProcesses, NameTheDeadRankAndNotTheOneThatGaveUpOnIt) {
  for (int attempt = 0; attempt < 20; ++attempt) {
    const Report report = run(3, "chain");
    expect_survivors_noticed(report);
    EXPECT_THAT(report.err, HasSubstr("rank 2: rank 1 died\n"));
    EXPECT_THAT(report.err, Not(HasSubstr("left")));
  }
}

TEST(ShmProcesses, GiveUpOnASilentRankAfterTheTimeout) {
  const milliseconds timeout(500);
  const ShmSegment segment(3);
  Staffing staffing = job(segment, 3, "be stopped", timeout);
  staffing.grace = milliseconds(200);
  const Report report = run_job(staffing);
  EXPECT_EQ(report.outcome.endings[1].signal, SIGKILL);  // by us, after the grace
  EXPECT_EQ(report.outcome.exit_code(), 4);
  EXPECT_THAT(report.err, HasSubstr("rank 1 has been silent for 0.5 s\n"));
  EXPECT_THAT(report.err, Not(HasSubstr("left")));
  EXPECT_GE(report.took, timeout);
}

TEST(ShmProcesses, NameARankThatDoesNotCome) {
  const Report report = run(3, "stay away", milliseconds(300));
  expect_survivors_noticed(report);
  EXPECT_THAT(report.err, HasSubstr("rank 1 did not come within 0.3 s\n"));
}

bool is_same_file(const std::filesystem::path& path, const struct stat& wanted) {
  struct stat found = {};
  return stat(path.c_str(), &found) == 0 && found.st_dev == wanted.st_dev &&
         found.st_ino == wanted.st_ino;
}

// How many descriptors of all processes refer to it.
int holders(int fd) {
  struct stat wanted = {};
  fstat(fd, &wanted);
  int count = 0;
  std::error_code gone;  // processes come and go
  for (const auto& process : std::filesystem::directory_iterator("/proc", gone)) {
    if (process.is_symlink(gone)) continue;  // /proc/self
    const auto descriptors = std::filesystem::directory_iterator(process.path() / "fd", gone);
    if (gone) continue;
    for (const auto& entry : descriptors) count += is_same_file(entry.path(), wanted) ? 1 : 0;
  }
  return count;
}

TEST(ShmProcesses, LeaveNothingBehindWhenKilled) {
  const ShmSegment segment(2);
  {
    const Workers workers(job(segment, 2, "wait"));
    EXPECT_EQ(holders(segment.fd()), 3);  // the test is able to see them
  }
  EXPECT_EQ(holders(segment.fd()), 1);
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm"))
    EXPECT_THAT(entry.path().filename().string(), Not(HasSubstr("narrowcast")));
}

class EveryClause : public testing::TestWithParam<Clause> {};

TEST_P(EveryClause, HoldsAmongProcesses) {
  const Report report = run(GetParam().ranks, std::string(GetParam().name));
  EXPECT_EQ(report.outcome.exit_code(), 0) << report.err;
}

INSTANTIATE_TEST_SUITE_P(Shm, EveryClause, testing::ValuesIn(contract().begin(), contract().end()),
                         [](const auto& clause) { return std::string(clause.param.name); });

}  // namespace
}  // namespace narrowcast::test
