#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "collective/pipeline/layout.hpp"
#include "tests/collective/trial.hpp"
#include "tests/support/check.hpp"

// How shares are added: in the codec's format, with compensation, exactly, and with residuals.
namespace narrowcast::test {
namespace {

Trial format_trial(const std::string& codec, Sum sum, int ranks) {
  Tensor tensor{.values = 5003, .id = 9, .exponent = 3};
  tensor.codec = codec;
  return {.tensors = {tensor},
          .how = {.travel = {.seed = 2, .chunk = 1000}, .sum = sum, .group = ranks},
          .ranks = ranks};
}

std::vector<double> exact_sum(const Trial& trial, int step) {
  std::vector<double> sum(trial.tensors[0].values);
  for (int rank = 0; rank < trial.ranks; ++rank) {
    const std::vector<float> share = share_of(trial.tensors[0], rank, step);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += share[i];
  }
  return sum;
}

// Rounds to a format as one codec call does.
class Format {
 public:
  explicit Format(const Tensor& tensor)
      : codec_(make_codec(tensor.codec)), exponent_(tensor.exponent) {}
  std::vector<float> operator()(const std::vector<float>& values) const {
    return round_trip(*codec_, values, {.exponent = exponent_});
  }

 private:
  std::unique_ptr<Codec> codec_;
  int exponent_;
};

std::vector<float> sum_in_format(const Trial& trial) {
  const Tensor& tensor = trial.tensors[0];
  const Format round(tensor);
  std::vector<float> sum = round(share_of(tensor, 0, 0));
  for (int rank = 1; rank < trial.ranks; ++rank) {
    const std::vector<float> next = round(share_of(tensor, rank, 0));
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += next[i];
    sum = round(sum);
  }
  return sum;
}

std::vector<float> compensated_sum_in_format(const Trial& trial) {
  const Tensor& tensor = trial.tensors[0];
  const Format round(tensor);
  std::vector<float> sum = round(share_of(tensor, 0, 0));
  std::vector<float> lost(sum.size());
  for (int rank = 1; rank < trial.ranks; ++rank) {
    std::vector<float> next = round(share_of(tensor, rank, 0));
    for (std::size_t i = 0; i < sum.size(); ++i) next[i] -= lost[i];
    next = round(next);
    std::vector<float> larger = sum;
    for (std::size_t i = 0; i < sum.size(); ++i) larger[i] += next[i];
    larger = round(larger);
    for (std::size_t i = 0; i < sum.size(); ++i) lost[i] = larger[i] - sum[i];
    lost = round(lost);
    for (std::size_t i = 0; i < sum.size(); ++i) lost[i] -= next[i];
    lost = round(lost);
    sum = larger;
  }
  return sum;
}

constexpr const char* kFormats[] = {"float:e=5,m=2", "float:e=4,m=3", "e4m3",
                                    "e5m2",          "fp16",          "bf16"};

TEST(SumInFormat, RoundsEachAddition) {
  for (const char* format : kFormats)
    for (const char* row : {"direct", "gather", "hierarchy"}) {
      SCOPED_TRACE(std::string(format) + " " + row);
      const Trial trial = format_trial(format, Sum::format, 5);
      const auto outcomes = reduce(all_reduce_row(row), trial);
      for (const Outcome& outcome : outcomes)
        EXPECT_TRUE(same_values(outcome.results[0], sum_in_format(trial)));
    }
}

TEST(SumInFormat, IsTheSameOnTheRingWhenTwoRanksAdd) {
  // With more, the ring adds each shard in another order.
  for (const char* format : kFormats) {
    SCOPED_TRACE(format);
    const Trial trial = format_trial(format, Sum::format, 2);
    for (const Outcome& outcome : reduce(all_reduce_row("ring"), trial))
      EXPECT_TRUE(same_values(outcome.results[0], sum_in_format(trial)));
  }
}

TEST(SumWithKahan, CompensatesInTheFormat) {
  for (const char* format : kFormats)
    for (const char* row : {"direct", "gather", "hierarchy"}) {
      SCOPED_TRACE(std::string(format) + " " + row);
      const Trial trial = format_trial(format, Sum::kahan, 6);
      for (const Outcome& outcome : reduce(all_reduce_row(row), trial))
        EXPECT_TRUE(same_values(outcome.results[0], compensated_sum_in_format(trial)));
    }
}

TEST(SumWithKahan, IsNearerThanThePlainSum) {
  const auto error = [](Sum sum) {
    const Trial trial = format_trial("float:e=5,m=2", sum, 9);
    const std::vector<float> result = reduce(all_reduce_row("direct"), trial)[0].results[0];
    const std::vector<double> exact = exact_sum(trial, 0);
    double total = 0;
    for (std::size_t i = 0; i < result.size(); ++i) total += std::abs(exact[i] - result[i]);
    return total;
  };
  EXPECT_LT(error(Sum::kahan), error(Sum::format));
}

TEST(SelfExact, AddsTheOwnersShareAsItIs) {
  Trial trial{.tensors = {{"dynamic8:block=256", 4001, 5}},
              .how = {.travel = {.chunk = 700}, .self = Self::exact},
              .ranks = 3};
  const auto outcomes = reduce(all_reduce_row("direct"), trial);

  const std::unique_ptr<Codec> codec = make_codec(trial.tensors[0].codec);
  std::vector<float> blank(4001);
  const Piece piece{.tensor = 5, .values = blank, .codec = codec.get()};
  const Layout layout = Layout::shards({&piece, 1}, trial.ranks, 4002);
  for (int owner = 0; owner < trial.ranks; ++owner) {
    std::vector<float> sum(4001);
    for (int rank = 0; rank < trial.ranks; ++rank) {
      const std::vector<float> exact = share_of(trial.tensors[0], rank, 0);
      const std::vector<float> share = rank == owner ? exact : round_trip(*codec, exact);
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += share[i];
    }
    const std::vector<float> expected = round_trip(*codec, sum);
    for (const Chunk& chunk : layout.shard(owner))
      for (const Part& part : chunk.parts)
        for (const Outcome& outcome : outcomes)
          EXPECT_TRUE(same_values(Floats(outcome.results[0]).subspan(part.begin, part.count),
                                  Floats(expected).subspan(part.begin, part.count)));
  }
}

// Whatever is rounded off is either in the results or still held back, for every step so far.
class Feedback : public testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(Feedback, LosesNothing) {
  const auto& [name, codec] = GetParam();
  const AllReduceRow& row = all_reduce_row(name);
  constexpr int kSteps = 6;
  Trial trial{.tensors = {{codec, 3001, 8}},
              .how = {.travel = {.seed = 4, .chunk = 512}, .group = 2},
              .ranks = 5,
              .residuals = row.owner_residual ? Residuals::both : Residuals::sender};
  std::vector<double> brought(3001);
  std::vector<double> got(3001);
  double largest = 0;
  for (int step = 0; step < kSteps; ++step) {
    trial.steps = step + 1;
    const std::vector<Outcome> outcomes = reduce(row, trial);
    const std::vector<double> shares = exact_sum(trial, step);
    for (std::size_t i = 0; i < brought.size(); ++i) {
      brought[i] += shares[i];
      got[i] += outcomes[0].results[0][i];
      double held = 0;
      for (const Outcome& outcome : outcomes) {
        held += outcome.sender_residuals[0][i];
        if (row.owner_residual) held += outcome.owner_residuals[0][i];
      }
      largest = std::max({largest, std::abs(got[i]), std::abs(held), 1.0 * trial.ranks});
      // Float32 additions: some three for each rank and step.
      const double slack =
          3.0 * trial.ranks * trial.steps * largest * std::numeric_limits<float>::epsilon();
      ASSERT_NEAR(got[i] + held, brought[i], slack) << "value " << i << " step " << step;
    }
  }
}

std::string feedback_name(const testing::TestParamInfo<Feedback::ParamType>& info) {
  std::string name = std::get<0>(info.param) + "_" + std::get<1>(info.param);
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Rows, Feedback,
                         testing::Combine(testing::Values("direct", "ring", "hierarchy", "gather"),
                                          testing::Values("onebit:column=64", "dynamic8",
                                                          "qsgd:bits=4,bucket=512", "mxfp4")),
                         feedback_name);

// Every way of adding, where a row has it: chunks, threads and fusion change nothing.
void expect_independent(const AllReduceRow& row, const Reduction& how, const std::string& codec) {
  Trial together{
      .tensors = {{codec, 3001, 3}, {codec, 50, 4}, {codec, 2500, 5}}, .how = how, .ranks = 4};
  together.how.travel = {.seed = 5, .step = 1, .chunk = 500};
  together.how.group = 2;
  const Values expected = reduce(row, together)[0].results;
  together.how.travel.chunk = 1 << 20;
  together.threads = 2;
  const Values whole = reduce(row, together)[3].results;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_TRUE(same_values(whole[i], expected[i]));
    Trial alone = together;
    alone.tensors = {together.tensors[i]};
    EXPECT_TRUE(same_values(reduce(row, alone)[1].results[0], expected[i]));
  }
}

TEST(EveryWayOfAdding, DoesNotDependOnFusionChunksOrThreads) {
  for (const AllReduceRow& row : all_reduces())
    for (const char* codec : {"float:e=5,m=2", "float:e=5,m=2,rounding=stochastic", "bf16"}) {
      SCOPED_TRACE(std::string(row.name) + " " + codec);
      expect_independent(row, {.sum = Sum::format}, codec);
      if (row.kahan) expect_independent(row, {.sum = Sum::kahan}, codec);
      if (row.self_exact) expect_independent(row, {.self = Self::exact}, codec);
    }
}

TEST(ScratchMemory, StaysBoundedForManyRanksWithOneChunkEach) {
  for (const AllReduceRow& row : all_reduces()) {
    SCOPED_TRACE(row.name);
    constexpr std::size_t kValues = 262'144;
    const Trial trial{.tensors = {{"dynamic8", kValues, 1}}, .how = {.group = 4}, .ranks = 16};
    const auto codec = make_codec("dynamic8");
    const std::size_t allowed =
        codec->max_bytes(kValues) + 2 * codec->max_bytes(trial.how.travel.chunk);
    for (const Outcome& outcome : reduce(row, trial)) EXPECT_LE(outcome.scratch, allowed);
  }
}

TEST(AllReduceChecks, RefuseWhatCannotBeDone) {
  const auto fault = [](const char* row, const char* codec, const Reduction& how) {
    Trial trial{.tensors = {{codec, 100, 1}}, .how = how};
    return fault_of([&] { reduce(all_reduce_row(row), trial); });
  };
  EXPECT_EQ(fault("ring", "fp16", {.sum = Sum::kahan}), Fault::usage);
  EXPECT_EQ(fault("ring", "fp16", {.self = Self::exact}), Fault::usage);
  EXPECT_EQ(fault("gather", "fp16", {.self = Self::exact}), Fault::usage);
  EXPECT_EQ(fault("hierarchy", "fp16", {.self = Self::exact}), Fault::usage);
  for (const char* codec : {"dynamic8", "onebit", "qsgd:bits=4", "mxfp8", "natural"}) {
    EXPECT_EQ(fault("direct", codec, {.sum = Sum::format}), Fault::usage) << codec;
    EXPECT_EQ(fault("direct", codec, {.sum = Sum::kahan}), Fault::usage) << codec;
  }
  EXPECT_EQ(fault("direct", "fp16", {.sum = Sum::kahan}), std::nullopt);
}

TEST(AllReduceChecks, RefuseAnOwnersResidualWhereNobodyOwnsSums) {
  for (const AllReduceRow& row : all_reduces()) {
    Trial trial{.tensors = {{"dynamic8", 100, 1}}, .residuals = Residuals::both};
    EXPECT_EQ(fault_of([&] { reduce(row, trial); }).has_value(), !row.owner_residual) << row.name;
  }
}

}  // namespace
}  // namespace narrowcast::test
