#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <mutex>

#include "base/error.hpp"
#include "collective/collective.hpp"
#include "tests/exchange/steps.hpp"
#include "tests/support/check.hpp"

// What rounding holds back: by tensor name, in and out of checkpoints.
namespace narrowcast::test {
namespace {

const std::vector<Tensor> kTensors = tensors_of({3001, 40, 2500});

// Runs steps [first, last) on every rank, from what was saved, and saves again.
struct Stretch {
  Plan plan;
  int ranks = 3;
  std::uint64_t first = 0;
  std::uint64_t last = 1;
  std::vector<Array> saved = {};
};

struct After {
  Values totals;  // of all steps, the same on every rank
  Values sums;    // of the last one
  std::vector<Array> saved;
};

After run_stretch(const Stretch& stretch) {
  After after;
  std::mutex mutex;
  on_ranks(stretch.ranks, [&](Transport& net) {
    Exchange exchange(net, stretch.plan, kTensors);
    exchange.load(net.rank() == 0 ? stretch.saved : std::vector<Array>{});
    Values totals;
    for (const Tensor& tensor : kTensors) totals.emplace_back(tensor.elements);
    Values values;
    for (std::uint64_t step = stretch.first; step < stretch.last; ++step) {
      values = shares_of(kTensors, net.rank(), step);
      exchange_step(exchange, {.step = step}, values);
      for (std::size_t i = 0; i < totals.size(); ++i)
        for (std::size_t j = 0; j < totals[i].size(); ++j) totals[i][j] += values[i][j];
    }
    std::vector<Array> saved = exchange.save();
    EXPECT_EQ(saved.empty(), net.rank() != 0);
    const std::lock_guard lock(mutex);
    if (net.rank() != 0) return;
    after = {totals, values, std::move(saved)};
  });
  return after;
}

// The residuals of a tensor that are kept under names that begin so, added up.
std::vector<double> held(const std::vector<Array>& saved, const std::string& beginning,
                         const Tensor& tensor) {
  std::vector<double> sum(tensor.elements);
  for (const Array& array : saved) {
    if (!array.name.starts_with("residual/" + beginning) || !array.name.ends_with(tensor.name) ||
        array.dtype != Dtype::f32)
      continue;
    std::size_t begin = 0;
    if (array.name.starts_with("residual/owner/"))
      begin = std::stoul(array.name.substr(array.name.find('/', 15) + 1));
    const Floats values = floats_of(array);
    for (std::size_t i = 0; i < values.size(); ++i) sum[begin + i] += values[i];
  }
  return sum;
}

// Whatever was brought is in the sums or still held back.
void expect_nothing_lost(const After& after, int ranks, std::uint64_t steps) {
  for (std::size_t i = 0; i < kTensors.size(); ++i) {
    std::vector<double> brought(kTensors[i].elements);
    for (int rank = 0; rank < ranks; ++rank)
      for (std::uint64_t step = 0; step < steps; ++step) {
        const std::vector<float> share = shares_of(kTensors, rank, step)[i];
        for (std::size_t j = 0; j < brought.size(); ++j) brought[j] += share[j];
      }
    const std::vector<double> back = held(after.saved, "", kTensors[i]);
    double largest = 1;
    for (std::size_t j = 0; j < brought.size(); ++j)
      largest = std::max({largest, std::abs(brought[j]), std::abs(back[j])});
    // Float32 additions: some three for each rank and step.
    const double slack =
        3.0 * ranks * static_cast<double>(steps) * largest * std::numeric_limits<float>::epsilon();
    for (std::size_t j = 0; j < brought.size(); ++j)
      ASSERT_NEAR(after.totals[i][j] + back[j], brought[j], slack) << i << " " << j;
  }
}

Plan feedback_plan(const std::string& codec, const std::string& algorithm) {
  Plan plan = plan_of(codec, Feedback::on);
  plan.algorithm = algorithm;
  plan.group = 2;
  plan.fusion_bytes = 5000;
  return plan;
}

TEST(ErrorFeedback, LosesNothing) {
  for (const AllReduceRow& row : all_reduces())
    for (const char* codec : {"onebit:column=64", "dynamic8", "qsgd:bits=4,bucket=512"}) {
      SCOPED_TRACE(std::string(row.name) + " " + codec);
      const After after =
          run_stretch({.plan = feedback_plan(codec, std::string(row.name)), .last = 5});
      expect_nothing_lost(after, 3, 5);
    }
}

TEST(ErrorFeedback, LosesNothingUnderScaling) {
  for (const Scaling scaling : {Scaling::aps, Scaling::aps_tight}) {
    Plan plan = feedback_plan("float:e=4,m=1", "direct");
    plan.rules[0].way.scaling = scaling;
    expect_nothing_lost(run_stretch({.plan = plan, .last = 5}), 3, 5);
  }
}

TEST(ErrorFeedback, LosesNothingWhenTheScheduleChangesTheWay) {
  // Other codecs with other shards, without feedback, in fp32, and back.
  Plan plan = feedback_plan("onebit:column=64", "direct");
  plan.rules[0].unit = Unit::step;
  const Way last{.codec = "dynamic8:block=1024", .feedback = Feedback::on};
  plan.rules[0].schedule = {
      {.from = 2, .way = {.codec = "qsgd:bits=4,bucket=512", .feedback = Feedback::on}},
      {.from = 3, .way = {.codec = "fp32"}},
      {.from = 4, .way = {.codec = "onebit:column=512", .feedback = Feedback::on}},
      {.from = 6, .way = last}};
  expect_nothing_lost(run_stretch({.plan = plan, .last = 8}), 3, 8);
  const After plain = run_stretch({.plan = plan, .last = 4});
  EXPECT_EQ(plain.saved.size(), 1U) << "fp32 holds nothing back";
  expect_nothing_lost(plain, 3, 4);
}

TEST(ErrorFeedback, GoesOnFromACheckpointBitForBit) {
  for (const AllReduceRow& row : all_reduces())
    for (const char* codec : {"onebit:column=64", "qsgd:bits=4"})
      for (const std::uint64_t stop : {1, 2, 3}) {
        SCOPED_TRACE(std::string(row.name) + " " + codec);
        Plan plan = feedback_plan(codec, std::string(row.name));
        plan.rules[0].unit = Unit::step;
        plan.rules[0].schedule = {
            {.from = 3, .way = {.codec = "dynamic8:block=256", .feedback = Feedback::on}}};
        const After whole = run_stretch({.plan = plan, .last = 6});
        const After first = run_stretch({.plan = plan, .last = stop});
        const After second =
            run_stretch({.plan = plan, .first = stop, .last = 6, .saved = first.saved});
        for (std::size_t i = 0; i < kTensors.size(); ++i)
          EXPECT_TRUE(same_values(second.sums[i], whole.sums[i]));
        EXPECT_EQ(second.saved, whole.saved);
      }
}

TEST(ErrorFeedback, IsSharedOutAnewWhenTheNumberOfRanksChanges) {
  const Plan plan = feedback_plan("onebit:column=64", "direct");
  const After before = run_stretch({.plan = plan, .ranks = 3, .last = 4});
  for (const int ranks : {1, 2, 5}) {
    SCOPED_TRACE(ranks);
    // No step: what was loaded is saved as it is.
    const After after =
        run_stretch({.plan = plan, .ranks = ranks, .first = 4, .last = 4, .saved = before.saved});
    for (const Tensor& tensor : kTensors) {
      const std::vector<double> senders = held(before.saved, "sender/", tensor);
      const std::vector<double> owners = held(before.saved, "owner/", tensor);
      const std::vector<double> cut = held(after.saved, "owner/", tensor);
      for (std::size_t i = 0; i < tensor.elements; ++i) {
        for (int rank = 0; rank < ranks; ++rank) {
          const std::string whose = "sender/" + std::to_string(rank) + "/";
          EXPECT_EQ(held(after.saved, whose, tensor)[0], static_cast<float>(senders[0] / 3));
        }
        EXPECT_EQ(cut[i], static_cast<float>(owners[i] * ranks / 3));
      }
    }
    // And every owner has what it owns: going on, none of it is found in another's place.
    const After next =
        run_stretch({.plan = plan, .ranks = ranks, .first = 4, .last = 5, .saved = before.saved});
    const After again =
        run_stretch({.plan = plan, .ranks = ranks, .first = 4, .last = 5, .saved = after.saved});
    EXPECT_EQ(next.saved, again.saved);
  }
}

TEST(ErrorFeedback, OwnersPartsDoNotOverlapAfterTheNumberOfRanksChanged) {
  const Plan plan = feedback_plan("dynamic8:block=256", "direct");
  const After before = run_stretch({.plan = plan, .ranks = 2, .last = 3});
  const After after =
      run_stretch({.plan = plan, .ranks = 4, .first = 3, .last = 3, .saved = before.saved});
  std::map<std::string, std::vector<int>> times;
  for (const Array& array : after.saved) {
    if (!array.name.starts_with("residual/owner/")) continue;
    const std::size_t slash = array.name.find('/', 15);
    const std::size_t begin = std::stoul(array.name.substr(slash + 1));
    std::vector<int>& count = times[array.name.substr(array.name.find('/', slash + 1))];
    count.resize(4000);
    for (std::size_t i = 0; i < floats_of(array).size(); ++i) ++count[begin + i];
  }
  EXPECT_EQ(times.size(), kTensors.size());
  for (const auto& [name, count] : times)
    for (const int each : count) EXPECT_LE(each, 1) << name;
}

TEST(ErrorFeedback, StartsAfreshFromNothing) {
  const Plan plan = feedback_plan("onebit:column=64", "direct");
  const After fresh = run_stretch({.plan = plan, .last = 2});
  const After none = run_stretch({.plan = plan_of("fp32"), .last = 2});
  const After loaded = run_stretch({.plan = plan, .last = 2, .saved = none.saved});
  EXPECT_EQ(loaded.saved, fresh.saved);
}

TEST(ErrorFeedback, RefusesWhatIsNoResidualOfItsTensorsOnEveryRank) {
  const Plan plan = feedback_plan("onebit:column=64", "direct");
  const std::vector<Array> good = run_stretch({.plan = plan, .last = 2}).saved;
  const auto message = [&](const std::vector<Array>& bad) {
    std::vector<std::string> said(2);
    on_ranks(2, [&](Transport& net) {
      Exchange exchange(net, plan, kTensors);
      try {
        exchange.load(net.rank() == 0 ? bad : std::vector<Array>{});
      } catch (const Error& error) {
        EXPECT_EQ(error.fault(), Fault::wire);
        said[net.rank()] = error.what();
        exchange.load(net.rank() == 0 ? good : std::vector<Array>{});  // nothing has broken
        EXPECT_EQ(exchange.save().empty(), net.rank() != 0);
      }
    });
    EXPECT_EQ(said[0], said[1]);
    return said[0];
  };
  const auto with = [&](const std::function<void(Array&)>& spoil, const std::string& which) {
    std::vector<Array> bad = good;
    for (Array& array : bad)
      if (array.name.find(which) != std::string::npos) {
        spoil(array);
        return message(bad);
      }
    return std::string("nothing was spoilt");
  };
  const auto rename = [](const std::string& name) {
    return [name](Array& array) { array.name = name; };
  };
  EXPECT_EQ(message(good), "");
  for (const char* name : {"residual/sender/0/other", "residual/sender/9/layer0.weight",
                           "residual/sender/x/layer0.weight", "weights/layer0.weight",
                           "residual/sender/-1/layer0.weight", "residual/", "", "residual/ranks",
                           "residual/owner/0/99999999999999999999999/layer0.weight",
                           "residual/owner/0/3001/layer0.weight"})
    EXPECT_NE(with(rename(name), "sender/1/layer0").find(name), std::string::npos) << name;
  EXPECT_NE(with([](Array& a) { a.bytes.pop_back(); }, "sender/1/layer0").find("sender/1/layer0"),
            std::string::npos);
  EXPECT_NE(with([](Array& a) { a.dtype = Dtype::u8; }, "owner/2").find("owner/2"),
            std::string::npos);
  EXPECT_NE(
      with([](Array& a) { a.bytes.assign(3, std::byte{'x'}); }, "passage/1").find("passage/1"),
      std::string::npos);
  EXPECT_NE(with(rename("residual/sender/0/layer1.weight"), "residual/ranks"), "");
  EXPECT_NE(with([](Array& a) { a.bytes.assign(8, std::byte{0}); }, "residual/ranks"), "");
  EXPECT_NE(with(rename("residual/sender/0/layer1.weight"), "residual/passage/2/layer1"), "");
}

}  // namespace
}  // namespace narrowcast::test
