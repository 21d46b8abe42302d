#include "predict/calibrate.hpp"

#include <gtest/gtest.h>

#include <mutex>

#include "base/error.hpp"
#include "predict/measure/measure.hpp"
#include "tests/support/ranks.hpp"

namespace narrowcast {
namespace {

const std::vector<std::string> kFew = {"fp32", "dynamic8"};

TEST(Calibration, GivesEveryRankTheSameProfile) {
  std::mutex mutex;
  std::vector<std::string> profiles;
  test::on_ranks(3, [&](Transport& net) {
    const Profile profile = calibrate(net, kFew, {.seconds = 0.02});
    const std::lock_guard lock(mutex);
    profiles.push_back(to_toml(profile));
  });
  ASSERT_EQ(profiles.size(), 3);
  EXPECT_EQ(profiles[0], profiles[1]);
  EXPECT_EQ(profiles[0], profiles[2]);
  const Profile read = parse_profile(profiles[0], "calibrated");
  EXPECT_GT(read.network.bandwidth, 0);
  EXPECT_GT(read.network.latency_us, 0);
  EXPECT_GT(read.cores, 0);
  EXPECT_GT(speed_of(read, "dynamic8").encode_ns, 0);
  EXPECT_EQ(speed_of(read, "fp32").encode_ns, 0);
}

TEST(Calibration, TellsLinksWithinAMachineFromThoseAcross) {
  test::on_ranks(4, [&](Transport& net) {
    const Profile profile =
        calibrate(net, std::vector<std::string>{"fp32"}, {.machine_workers = 2, .seconds = 0.02});
    EXPECT_EQ(profile.machine_workers, 2);
    EXPECT_NE(profile.machine.bandwidth, profile.network.bandwidth);
  });
}

TEST(Calibration, IsForSeveralRanks) {
  test::on_ranks(1, [&](Transport& net) { EXPECT_THROW(calibrate(net, kFew, {}), Error); });
}

TEST(Roundtable, FindsTheLargestAndTheMeanOfAllRanks) {
  test::on_ranks(4, [&](Transport& net) {
    Roundtable table(net, 9);
    const double rank = net.rank();
    EXPECT_EQ(table.largest({rank, -rank}), (std::vector<double>{3, 0}));
    EXPECT_EQ(table.mean({rank, 2 * rank}), (std::vector<double>{1.5, 3}));
  });
}

TEST(Finding, IsAMedianThatSingleInterruptionsDoNotMove) {
  EXPECT_EQ(finding_of({5, 5, 5, 5, 500}).value, 5);
  EXPECT_EQ(finding_of({5, 5, 5, 5, 5, 5, 500}).spread, 0);
  EXPECT_GT(finding_of({4, 5, 6, 7, 8}).spread, 0);
}

}  // namespace
}  // namespace narrowcast
