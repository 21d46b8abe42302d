#include "base/team.hpp"

#include <gtest/gtest.h>

#include <barrier>
#include <chrono>
#include <cstddef>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/error.hpp"

namespace narrowcast::test {
namespace {

TEST(Team, CallsTheJobOnceForEveryMember) {
  for (int size : {1, 2, 3, 8}) {
    Team team(size);
    EXPECT_EQ(size, team.size());
    std::vector<int> calls(static_cast<std::size_t>(size));
    team.run([&](int member) { ++calls[static_cast<std::size_t>(member)]; });
    EXPECT_EQ(std::vector<int>(static_cast<std::size_t>(size), 1), calls);
  }
}

TEST(Team, GivesEveryMemberItsOwnThreadAndTheCallerJobZero) {
  Team team(4);
  std::vector<std::thread::id> ids(4);
  team.run([&](int member) { ids[static_cast<std::size_t>(member)] = std::this_thread::get_id(); });
  EXPECT_EQ(std::this_thread::get_id(), ids[0]);
  EXPECT_EQ(4u, std::set(ids.begin(), ids.end()).size());
}

// Every member waits for all others: this ends only if they really run at the same time.
TEST(Team, RunsItsMembersAtTheSameTime) {
  Team team(3);
  std::barrier meeting(3);
  int met = 0;
  team.run([&](int member) {
    meeting.arrive_and_wait();
    if (member == 0) met = 1;
  });
  EXPECT_EQ(1, met);
}

TEST(Team, ShowsEachJobWhatTheJobBeforeWrote) {
  Team team(3);
  std::vector<int> cells = {1, 2, 3};
  constexpr int kJobs = 2000;
  for (int job = 0; job < kJobs; ++job) {
    std::vector<int> next(3);
    // Each member reads what its neighbour wrote in the job before.
    team.run([&](int member) {
      next[static_cast<std::size_t>(member)] = cells[static_cast<std::size_t>((member + 1) % 3)];
    });
    cells = next;
  }
  const std::vector<int> start = {1, 2, 3};
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(start[(i + kJobs) % 3], cells[i]);
}

// Longer than members spin: they have gone to sleep and must be woken, and so must the caller.
TEST(Team, WakesMembersThatWentToSleep) {
  Team team(2);
  const auto busy = [] {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(2);
    while (std::chrono::steady_clock::now() < end) std::this_thread::yield();
  };
  std::vector<int> calls(2);
  for (int slow = 0; slow < 4; ++slow) {
    busy();
    team.run([&](int member) {
      if (member == slow % 2) busy();
      ++calls[static_cast<std::size_t>(member)];
    });
  }
  EXPECT_EQ((std::vector<int>{4, 4}), calls);
}

TEST(Team, RethrowsTheFirstExceptionByMember) {
  Team team(4);
  const auto failing = [](int member) {
    if (member >= 2) throw std::runtime_error("member " + std::to_string(member));
  };
  try {
    team.run(failing);
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ("member 2", error.what());
  }
}

TEST(Team, FinishesTheOthersWhenTheCallersPartFails) {
  Team team(3);
  std::vector<int> calls(3);
  EXPECT_THROW(team.run([&](int member) {
    ++calls[static_cast<std::size_t>(member)];
    if (member == 0) throw std::runtime_error("the caller's");
  }),
               std::runtime_error);
  EXPECT_EQ((std::vector<int>{1, 1, 1}), calls);
}

TEST(Team, WorksOnAfterAnException) {
  for (int size : {1, 3}) {
    Team team(size);
    EXPECT_THROW(team.run([](int) { throw std::runtime_error("once"); }), std::runtime_error);
    EXPECT_NO_THROW(team.run([](int) {}));
  }
}

TEST(Team, EndsWithoutEverHavingRun) { EXPECT_EQ(5, Team(5).size()); }

TEST(Team, RefusesToBeEmpty) {
  for (int size : {0, -1}) {
    try {
      Team team(size);
      FAIL() << size << " was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(Fault::usage, error.fault());
      EXPECT_NE(std::string::npos, std::string(error.what()).find(std::to_string(size)));
    }
  }
}

}  // namespace
}  // namespace narrowcast::test
