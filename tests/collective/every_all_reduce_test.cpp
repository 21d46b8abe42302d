#include <gtest/gtest.h>

#include <string>

#include "tests/collective/reference.hpp"
#include "tests/support/catalogue.hpp"
#include "tests/support/check.hpp"

// Every all-reduce with every codec.
namespace narrowcast::test {
namespace {

class EveryAllReduce : public testing::TestWithParam<std::tuple<std::string, std::string>> {
 protected:
  const AllReduceRow& row() const { return all_reduce_row(std::get<0>(GetParam())); }
  const std::string& codec() const { return std::get<1>(GetParam()); }

  // Nothing, one value, ragged, and more than a chunk; a small chunk keeps that quick.
  Trial trial(int ranks) const {
    return {.tensors = {{codec(), 0, 3},
                        {codec(), 1, 4},
                        {codec(), 2999, 5},
                        {"fp32", 7, 6},
                        {codec(), 9'001, 7}},
            .how = {.travel = {.seed = 11, .step = 5, .chunk = 1024}, .group = 2},
            .ranks = ranks};
  }
};

void expect_same(const Values& actual, const Values& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i)
    EXPECT_TRUE(same_values(actual[i], expected[i])) << "tensor " << i;
}

void expect_same_on_all(const std::vector<Outcome>& outcomes) {
  for (const Outcome& outcome : outcomes)
    for (std::size_t i = 0; i < outcome.results.size(); ++i)
      EXPECT_TRUE(same_bytes(std::as_bytes(Floats(outcome.results[i])),
                             std::as_bytes(Floats(outcomes[0].results[i]))));
}

TEST_P(EveryAllReduce, LeavesTheSameBitsOnEveryRankAndSendsWhatItDeclares) {
  for (int ranks = 1; ranks <= 9; ++ranks) {
    SCOPED_TRACE(ranks);
    const Trial each = trial(ranks);
    const std::vector<Outcome> outcomes = reduce(row(), each);
    expect_same_on_all(outcomes);
    for (int rank = 0; rank < ranks; ++rank) {
      const Traffic traffic = declared(row(), each, rank);
      EXPECT_EQ(outcomes[rank].sent.messages, traffic.messages());
      if (make_codec(codec())->promise().fixed_size)
        EXPECT_EQ(outcomes[rank].sent.bytes, traffic.bytes());
      else
        EXPECT_LE(outcomes[rank].sent.bytes, traffic.bytes());
    }
  }
}

TEST_P(EveryAllReduce, GivesWhatWholeTensorsGive) {
  for (const int ranks : {1, 2, 5}) {
    SCOPED_TRACE(ranks);
    for (const Result result : {Result::sum, Result::average}) {
      Trial each = trial(ranks);
      each.how.result = result;
      expect_same(reduce(row(), each)[0].results, reference(row(), each));
    }
  }
}

TEST_P(EveryAllReduce, DoesNotDependOnFusionChunksOrThreads) {
  Trial together = trial(3);
  const Values expected = reduce(row(), together)[0].results;
  for (const std::size_t chunk : {1U, 5000U, 1U << 20}) {
    SCOPED_TRACE(chunk);
    together.how.travel.chunk = chunk;
    expect_same(reduce(row(), together)[0].results, expected);
  }
  together.threads = 3;
  expect_same(reduce(row(), together)[0].results, expected);

  Values apart;
  for (const Tensor& tensor : together.tensors) {
    Trial alone = together;
    alone.tensors = {tensor};
    apart.push_back(reduce(row(), alone)[0].results[0]);
  }
  expect_same(apart, expected);
}

TEST_P(EveryAllReduce, KeepsItsScratchMemoryWithinOneCopyAndTwoChunks) {
  constexpr std::size_t kValues = 300'001;
  constexpr std::size_t kChunk = 8192;
  const std::unique_ptr<Codec> made = make_codec(codec());
  if (made->promise().block == 0) GTEST_SKIP() << "may not be cut, so it has no chunks";
  for (const int ranks : {2, 5, 9}) {
    SCOPED_TRACE(ranks);
    Trial each = trial(ranks);
    each.tensors = {{codec(), kValues, 3}};
    each.how.travel.chunk = kChunk;
    const std::size_t allowed = made->max_bytes(kValues) + 2 * made->max_bytes(kChunk);
    // Lengths of parts whose size varies, and rounding up to cache lines.
    const std::size_t chunks = ranks * ((kValues / ranks) / kChunk + 2);
    for (const Outcome& outcome : reduce(row(), each))
      EXPECT_LE(outcome.scratch, allowed + chunks * 64);
  }
}

std::string name_of(const testing::TestParamInfo<EveryAllReduce::ParamType>& info) {
  std::string name = std::get<0>(info.param) + "_" + std::get<1>(info.param);
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return name;
}

std::vector<std::string> every_row() {
  std::vector<std::string> names;
  for (const AllReduceRow& row : all_reduces()) names.emplace_back(row.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Catalogue, EveryAllReduce,
                         testing::Combine(testing::ValuesIn(every_row()),
                                          testing::ValuesIn(every_spec())),
                         name_of);

}  // namespace
}  // namespace narrowcast::test
