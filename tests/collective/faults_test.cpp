#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/error.hpp"
#include "tests/collective/trial.hpp"
#include "tests/support/check.hpp"
#include "transport/faulty.hpp"
#include "transport/inproc.hpp"
#include "transport/sealed.hpp"

// Networks that lose, delay, cut, change and repeat messages, and ranks that die.
namespace narrowcast::test {
namespace {

constexpr int kRanks = 3;
// A lost message costs so long; a rank that is slower than this counts as silent.
constexpr std::chrono::milliseconds kPatience{100};

struct Tally {
  int right = 0;
  int refused = 0;
};

const std::vector<Tensor> kTensors = {{"dynamic8:block=256", 3000, 1}, {"qsgd:bits=4", 2000, 2}};

std::vector<Piece> pieces_in(Values& values, const std::vector<std::unique_ptr<Codec>>& codecs,
                             int rank) {
  values.clear();
  for (const Tensor& tensor : kTensors) values.push_back(share_of(tensor, rank, 0));
  return pieces_of(kTensors, codecs, values);
}

// One all-reduce; each rank's results, or nothing where it got an error.
std::vector<std::optional<Values>> reduce_badly(const AllReduceRow& row, std::uint64_t seed) {
  std::vector<std::optional<Values>> results(kRanks);
  Hub hub(kRanks, kPatience);
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < kRanks; ++rank)
    threads.emplace_back([&, rank] {
      try {
        const Mischief mischief{.seed = seed,
                                .drop = 0.002,
                                .delay = 0.02,
                                .truncate = 0.005,
                                .flip = 0.005,
                                .repeat = 0.005,
                                .kill = 0.002,
                                .longest_delay = std::chrono::microseconds(200)};
        const auto net = seal(faulty(hub.connect(rank), mischief), {});
        const auto codecs = codecs_of(kTensors);
        Values values;
        const std::vector<Piece> pieces = pieces_in(values, codecs, rank);
        Conversation group(*net, 0);
        all_reduce(row, pieces, {.travel = {.chunk = 256}, .group = 2}, group);
        results[rank] = values;
      } catch (const Error& error) {
        EXPECT_TRUE(error.fault() == Fault::peer || error.fault() == Fault::wire) << error.what();
        EXPECT_NE(std::string(error.what()).find("rank"), std::string::npos) << error.what();
      }
    });
  threads.clear();
  return results;
}

Tally try_seeds(const AllReduceRow& row, std::uint64_t first, std::uint64_t count) {
  Trial trial{.tensors = kTensors, .how = {.travel = {.chunk = 256}, .group = 2}, .ranks = kRanks};
  const Values expected = reduce(row, trial)[0].results;
  Tally tally;
  for (std::uint64_t seed = first; seed < first + count; ++seed)
    for (const std::optional<Values>& result : reduce_badly(row, seed)) {
      ++(result ? tally.right : tally.refused);
      for (std::size_t i = 0; result && i < expected.size(); ++i)
        EXPECT_TRUE(same_values((*result)[i], expected[i])) << "seed " << seed;
    }
  return tally;
}

class BadNetwork : public testing::TestWithParam<std::string> {};

// 250 seeds for each of the four algorithms.
TEST_P(BadNetwork, GivesTheRightSumOrAnErrorThatNamesARank) {
  const Tally tally = try_seeds(all_reduce_row(GetParam()), 0, 250);
  // Both happen, or this tests nothing.
  EXPECT_GT(tally.right, 50);
  EXPECT_GT(tally.refused, 50);
}

INSTANTIATE_TEST_SUITE_P(Rows, BadNetwork, testing::Values("direct", "ring", "hierarchy", "gather"),
                         [](const auto& row) { return row.param; });

}  // namespace
}  // namespace narrowcast::test
