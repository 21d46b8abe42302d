#include <gmock/gmock.h>

#include <map>

#include "base/error.hpp"
#include "transport/mpi.hpp"

namespace narrowcast {
namespace {

using Environment = std::map<std::string, std::string, std::less<>>;

MpiChoice choose(const Environment& environment) {
  return choose_mpi([&](std::string_view name) -> std::optional<std::string> {
    const auto found = environment.find(name);
    if (found == environment.end()) return std::nullopt;
    return found->second;
  });
}

void expect_choice(const Environment& environment, std::string_view module, int ranks) {
  const MpiChoice choice = choose(environment);
  EXPECT_EQ(choice.module.name, module);
  EXPECT_EQ(choice.ranks, ranks);
}

std::string refusal(const Environment& environment) {
  try {
    choose(environment);
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::usage);
    return error.what();
  }
  return "";
}

TEST(MpiChoice, FollowsTheLauncher) {
  expect_choice({{"OMPI_COMM_WORLD_SIZE", "4"}}, "openmpi", 4);
  expect_choice({{"PMI_SIZE", "3"}, {"PMI_RANK", "0"}}, "mpich", 3);
  expect_choice({{"SLURM_NTASKS", "8"}, {"PMIX_RANK", "7"}}, "openmpi", 8);
  expect_choice({{"SLURM_NTASKS", "8"}, {"PMI_RANK", "7"}}, "mpich", 8);
}

TEST(MpiChoice, PrefersMpirunToTheSlurmJobAroundIt) {
  expect_choice({{"OMPI_COMM_WORLD_SIZE", "2"}, {"PMIX_RANK", "1"}, {"SLURM_NTASKS", "8"}},
                "openmpi", 2);
  expect_choice({{"PMI_SIZE", "2"}, {"PMI_RANK", "1"}, {"SLURM_NTASKS", "8"}}, "mpich", 2);
}

TEST(MpiChoice, RefusesAProcessThatNobodyLaunched) {
  EXPECT_THAT(refusal({}), testing::HasSubstr("mpirun or srun"));
  EXPECT_THAT(refusal({{"SLURM_NTASKS", "8"}}), testing::HasSubstr("mpirun or srun"));
}

TEST(MpiChoice, RefusesSizesThatAreNone) {
  for (const char* size : {"", "0", "-1", "two", "2x", "99999999999"})
    EXPECT_THAT(refusal({{"PMI_SIZE", size}}), testing::HasSubstr("PMI_SIZE")) << size;
}

}  // namespace
}  // namespace narrowcast
