#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <tuple>

#include "tests/support/ranks.hpp"
#include "tests/transport/contract.hpp"

namespace narrowcast::test {
namespace {

class EveryTransport : public testing::TestWithParam<std::tuple<RanksRow, Clause>> {};

// A clause that goes on only because somebody ran out of patience is broken, too.
void expect_kept(const RanksRow& row, const Clause& clause, int ranks) {
  const auto start = std::chrono::steady_clock::now();
  on_ranks(row, ranks, clause.run);
  EXPECT_LT(std::chrono::steady_clock::now() - start, kTestTimeout);
}

TEST_P(EveryTransport, KeepsTheContract) {
  const auto& [row, clause] = GetParam();
  expect_kept(row, clause, clause.ranks);
}

TEST_P(EveryTransport, KeepsTheContractAmongMoreRanks) {
  const auto& [row, clause] = GetParam();
  expect_kept(row, clause, clause.ranks + 1);
}

std::string name_of(const testing::TestParamInfo<EveryTransport::ParamType>& info) {
  const auto& [row, clause] = info.param;
  return std::string(row.name) + "_" + std::string(clause.name);
}

INSTANTIATE_TEST_SUITE_P(Over, EveryTransport,
                         testing::Combine(testing::ValuesIn(every_ranks().begin(),
                                                            every_ranks().end()),
                                          testing::ValuesIn(contract().begin(), contract().end())),
                         name_of);

}  // namespace
}  // namespace narrowcast::test
