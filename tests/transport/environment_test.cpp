#include "transport/environment.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <map>

#include "base/error.hpp"
#include "tests/support/gloo_ranks.hpp"

namespace narrowcast {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using Settings = std::map<std::string, std::string, std::less<>>;

Launch launch_with(const Settings& settings) {
  return read_launch([&](std::string_view name) -> std::optional<std::string> {
    const auto found = settings.find(name);
    if (found == settings.end()) return std::nullopt;
    return found->second;
  });
}

std::string refusal_of(const Settings& settings) {
  try {
    launch_with(settings);
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::usage);
    return error.what();
  }
  return "accepted";
}

Settings torchrun() {
  return {{"RANK", "5"},
          {"WORLD_SIZE", "8"},
          {"LOCAL_RANK", "1"},
          {"LOCAL_WORLD_SIZE", "4"},
          {"MASTER_ADDR", "10.1.2.3"},
          {"MASTER_PORT", "29500"}};
}

Settings but(Settings settings, const std::string& name, const std::string& value) {
  settings[name] = value;
  return settings;
}

TEST(Environment, WithoutLauncherIsOneRank) {
  const Launch launch = launch_with({{"SLURM_NTASKS", "4"}});
  EXPECT_EQ(launch.launcher, Launcher::none);
  EXPECT_EQ(launch.place.size, 1);
  EXPECT_EQ(launch.place.rank, 0);
  EXPECT_TRUE(launch.transport.empty());
}

TEST(Environment, UnderstandsTorchrun) {
  const Launch launch = launch_with(torchrun());
  EXPECT_EQ(launch.launcher, Launcher::torchrun);
  EXPECT_EQ(launch.place.rank, 5);
  EXPECT_EQ(launch.place.size, 8);
  EXPECT_EQ(launch.place.local_rank, 1);
  EXPECT_EQ(launch.place.local_size, 4);
  EXPECT_EQ(launch.transport, "gloo");
  EXPECT_EQ(launch.rendezvous, "tcp://10.1.2.3:29501");
}

TEST(Environment, TakesThePortItIsGivenUnderTorchrun) {
  EXPECT_EQ(launch_with(but(torchrun(), "NARROWCAST_PORT", "4711")).rendezvous,
            "tcp://10.1.2.3:4711");
}

TEST(Environment, PutsAddressesWithColonsIntoBrackets) {
  EXPECT_EQ(launch_with(but(torchrun(), "MASTER_ADDR", "fe80::1")).rendezvous,
            "tcp://[fe80::1]:29501");
}

TEST(Environment, UnderstandsItsOwnLauncherBeforeAnyOther) {
  Settings settings = torchrun();
  settings["NARROWCAST_TRANSPORT"] = "shm";
  settings["NARROWCAST_RENDEZVOUS"] = "fd:7";
  settings["OMPI_COMM_WORLD_SIZE"] = "3";
  const Launch launch = launch_with(settings);
  EXPECT_EQ(launch.launcher, Launcher::own);
  EXPECT_EQ(launch.transport, "shm");
  EXPECT_EQ(launch.rendezvous, "fd:7");
  EXPECT_EQ(launch.place.rank, 5);
}

TEST(Environment, UnderstandsOpenMpi) {
  const Launch launch = launch_with({{"OMPI_COMM_WORLD_RANK", "2"},
                                     {"OMPI_COMM_WORLD_SIZE", "6"},
                                     {"OMPI_COMM_WORLD_LOCAL_RANK", "0"},
                                     {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                                     {"PMI_RANK", "1"},
                                     {"PMI_SIZE", "1"}});
  EXPECT_EQ(launch.launcher, Launcher::open_mpi);
  EXPECT_EQ(launch.place.rank, 2);
  EXPECT_EQ(launch.place.local_size, 2);
  EXPECT_EQ(launch.transport, "mpi");
  EXPECT_TRUE(launch.rendezvous.empty());
}

TEST(Environment, UnderstandsMpich) {
  const Launch launch = launch_with(
      {{"PMI_RANK", "1"}, {"PMI_SIZE", "3"}, {"MPI_LOCALRANKID", "1"}, {"MPI_LOCALNRANKS", "3"}});
  EXPECT_EQ(launch.launcher, Launcher::mpich);
  EXPECT_EQ(launch.place.rank, 1);
  EXPECT_EQ(launch.place.local_rank, 1);
  EXPECT_EQ(launch.transport, "mpi");
}

TEST(Environment, UnderstandsSlurm) {
  const Launch launch =
      launch_with({{"SLURM_PROCID", "3"}, {"SLURM_NTASKS", "4"}, {"SLURM_LOCALID", "1"}});
  EXPECT_EQ(launch.launcher, Launcher::slurm);
  EXPECT_EQ(launch.place.rank, 3);
  EXPECT_EQ(launch.place.size, 4);
  EXPECT_EQ(launch.place.local_rank, 1);
}

TEST(Environment, CountsUpToItsOwnRankWhereNobodySaysHowManyAreLocal) {
  Settings settings = torchrun();
  settings.erase("LOCAL_WORLD_SIZE");
  settings["LOCAL_RANK"] = "2";
  const Launch launch = launch_with(settings);
  EXPECT_EQ(launch.place.local_rank, 2);
  EXPECT_EQ(launch.place.local_size, 3);
  EXPECT_THAT(refusal_of(but(settings, "LOCAL_RANK", "8")), HasSubstr("LOCAL_RANK is '8'"));
}

TEST(Environment, TakesSlurmsTasksOfANodeWhereAllNodesHaveAsMany) {
  const Settings slurm = {{"SLURM_PROCID", "3"}, {"SLURM_NTASKS", "8"}, {"SLURM_LOCALID", "1"}};
  const auto local_size = [&](const std::string& tasks) {
    return launch_with(but(slurm, "SLURM_TASKS_PER_NODE", tasks)).place.local_size;
  };
  EXPECT_EQ(local_size("8"), 8);
  EXPECT_EQ(local_size("4(x2)"), 4);
  EXPECT_EQ(local_size("2(x4)"), 2);
  for (const char* unhelpful : {"3(x2),2", "2,6", "2(x3)", "16", "4(x2", "4x2", "(x2)", "4(x)",
                                "-4(x-2)", "0", "", "8 ", "4(x2)(x1)", "99999999999"})
    EXPECT_EQ(local_size(unhelpful), 2) << unhelpful;
  EXPECT_THAT(refusal_of(but(but(slurm, "SLURM_TASKS_PER_NODE", "2(x4)"), "SLURM_LOCALID", "2")),
              HasSubstr("SLURM_LOCALID is '2'"));
}

TEST(Environment, NamesTheVariableThatMakesNoSense) {
  EXPECT_THAT(refusal_of(but(torchrun(), "RANK", "five")), HasSubstr("RANK is 'five'"));
  EXPECT_THAT(refusal_of(but(torchrun(), "RANK", "")), HasSubstr("RANK is ''"));
  EXPECT_THAT(refusal_of(but(torchrun(), "RANK", "8")), HasSubstr("from 0 to 7"));
  EXPECT_THAT(refusal_of(but(torchrun(), "RANK", "-1")), HasSubstr("RANK"));
  EXPECT_THAT(refusal_of(but(torchrun(), "WORLD_SIZE", "0")), HasSubstr("WORLD_SIZE"));
  EXPECT_THAT(refusal_of(but(torchrun(), "WORLD_SIZE", "8 ")), HasSubstr("WORLD_SIZE"));
  EXPECT_THAT(refusal_of(but(torchrun(), "LOCAL_RANK", "4")), HasSubstr("LOCAL_RANK"));
  EXPECT_THAT(refusal_of(but(torchrun(), "MASTER_PORT", "65535")), HasSubstr("MASTER_PORT"));
  EXPECT_THAT(refusal_of(but(torchrun(), "NARROWCAST_PORT", "0")), HasSubstr("NARROWCAST_PORT"));
  EXPECT_THAT(refusal_of(but(torchrun(), "MASTER_ADDR", "")), HasSubstr("MASTER_ADDR"));
  EXPECT_THAT(refusal_of({{"PMI_SIZE", "3"}}), HasSubstr("PMI_RANK is not set"));
  EXPECT_THAT(refusal_of({{"NARROWCAST_RENDEZVOUS", "fd:3"}, {"RANK", "0"}, {"WORLD_SIZE", "1"}}),
              HasSubstr("NARROWCAST_TRANSPORT is not set"));
}

class JobKeyFile : public testing::Test {
 protected:
  std::filesystem::path write(const std::string& text, mode_t mode = 0600) {
    const std::filesystem::path file = folder_.path() / "key";
    std::ofstream(file, std::ios::binary) << text;
    chmod(file.c_str(), mode);
    return file;
  }

  static std::string refusal_of(const std::filesystem::path& file) {
    try {
      read_job_key(file);
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::usage);
      return error.what();
    }
    return "accepted";
  }

  test::TempFolder folder_;
};

TEST_F(JobKeyFile, HoldsDigitsOrBytes) {
  JobKey expected;
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = static_cast<std::byte>(i + 0xc0);
  const std::string bytes(reinterpret_cast<const char*>(expected.data()), expected.size());
  EXPECT_EQ(read_job_key(write(bytes)), expected);
  const std::string digits = "c0c1c2c3c4c5c6c7c8c9cacbcccdcecfd0d1d2d3d4d5d6d7d8d9DADBDCDDDEDF";
  EXPECT_EQ(read_job_key(write(digits)), expected);
  EXPECT_EQ(read_job_key(write(digits + "\n")), expected);
}

TEST_F(JobKeyFile, IsRefusedWhenItIsNoKey) {
  const std::string digits(64, 'a');
  for (const std::string& text : {std::string(), digits.substr(1), digits + "a", digits + "\n\n",
                                  digits.substr(1) + "g", std::string(31, 'x')})
    EXPECT_THAT(refusal_of(write(text)), HasSubstr("64 hexadecimal digits")) << text;
  EXPECT_THAT(refusal_of(folder_.path() / "missing"), HasSubstr("cannot be read"));
  EXPECT_THAT(refusal_of(folder_.path()), HasSubstr("no readable file"));
}

TEST_F(JobKeyFile, IsRefusedWhenItIsOpenToOthers) {
  const std::string digits(64, 'a');
  for (const mode_t mode : {0644, 0640, 0622, 0620, 0602, 0610})
    EXPECT_THAT(refusal_of(write(digits, mode)), HasSubstr("chmod 600")) << mode;
  for (const mode_t mode : {0600, 0400}) EXPECT_EQ(refusal_of(write(digits, mode)), "accepted");
}

TEST_F(JobKeyFile, IsRefusedWhenItBelongsToSomebodyElse) {
  const std::filesystem::path file = write(std::string(64, 'a'));
  if (chown(file.c_str(), 12345, 12345) != 0)
    GTEST_SKIP() << "only root can give a file to somebody else";
  EXPECT_THAT(refusal_of(file), HasSubstr("belongs to somebody else (user 12345)"));
}

// Opening a pipe that nobody writes to would wait for ever.
TEST_F(JobKeyFile, IsNeverWaitedFor) {
  const std::filesystem::path pipe = folder_.path() / "pipe";
  ASSERT_EQ(0, mkfifo(pipe.c_str(), 0600));
  EXPECT_THAT(refusal_of(pipe), HasSubstr("no readable file"));
}

TEST_F(JobKeyFile, IsNotRepeatedWhenTheKeyItselfStandsInItsPlace) {
  const std::string key = "c0c1c2c3c4c5c6c7c8c9cacbcccdcecfd0d1d2d3d4d5d6d7d8d9DADBDCDDDEDF";
  EXPECT_THAT(refusal_of(key), AllOf(HasSubstr("the job key itself"), Not(HasSubstr(key))));
}

TEST_F(JobKeyFile, IsNotRepeatedWhenItIsNoKey) {
  std::string nearly(64, 'b');
  nearly.back() = 'x';
  EXPECT_THAT(refusal_of(write(nearly)), Not(HasSubstr(nearly)));
}

TEST_F(JobKeyFile, IsNamedByTheEnvironment) {
  EXPECT_EQ(launch_with({{"NARROWCAST_KEY_FILE", "/some/key"}}).key_file, "/some/key");
}

}  // namespace
}  // namespace narrowcast
