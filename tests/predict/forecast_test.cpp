#include "predict/forecast.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "collective/collective.hpp"
#include "predict/expected.hpp"

namespace narrowcast {
namespace {

// Round numbers: a byte takes 1 us on the network, a value 100 ns to encode.
Profile simple_profile() {
  Profile profile{.name = "simple", .machine_workers = 1, .cores = 2};
  profile.machine = profile.network = {.latency_us = 0, .bandwidth = 1e6};
  profile.codecs = {{.codec = "fp32"},
                    {.codec = "*", .encode_ns = 100, .decode_ns = 50, .add_ns = 50}};
  return profile;
}

// Two tensors, of which the second is made last.
Workload simple_work() {
  return {.name = "two",
          .batch = 1,
          .forward_ms = 10,
          .backward_ms = 20,
          .rest_ms = 5,
          .tensors = {{"last", 20'000, 5}, {"first", 20'000, 20}}};
}

Scenario simple_scenario() {
  Scenario scenario{.work = simple_work()};
  scenario.plan.fusion_bytes = 1;
  return scenario;
}

TEST(Loads, AreWhatTheAlgorithmDeclares) {
  Scenario scenario = simple_scenario();
  scenario.workers = 4;
  scenario.plan = plan_for({.codec = "dynamic8"});
  scenario.plan.fusion_bytes = 1 << 30;
  const auto codec = make_codec("dynamic8");
  const Piece piece{.values = MutableFloats(static_cast<float*>(nullptr), 40'000),
                    .codec = codec.get()};
  const Traffic declared = all_reduce_row("direct").traffic({&piece, 1}, {}, 0, 4);
  const Loads loads = loads_of(scenario, simple_profile());
  ASSERT_EQ(loads.shipments.size(), 1);
  EXPECT_EQ(loads.bytes, static_cast<double>(declared.bytes()));
  EXPECT_GT(loads.fp32_bytes, 3.9 * loads.bytes);
}

TEST(Loads, AreNoneOfOneWorker) {
  Scenario scenario = simple_scenario();
  scenario.workers = 1;
  EXPECT_TRUE(loads_of(scenario, simple_profile()).shipments.empty());
  EXPECT_EQ(forecast(scenario, simple_profile()).step, 35);
}

TEST(Loads, LeaveSmallTensorsInFp32) {
  Scenario scenario = simple_scenario();
  scenario.plan = plan_for({.codec = "dynamic8"});
  scenario.work.tensors[0].elements = 9'999;
  const Loads loads = loads_of(scenario, simple_profile());
  ASSERT_EQ(loads.shipments.size(), 1);  // both in one buffer of 4 MiB
  ASSERT_EQ(loads.shipments[0].cargo.size(), 2);
  EXPECT_EQ(loads.shipments[0].cargo[0].codec, "fp32");
}

// 20,000 values of fp32 between two workers: each sends 40,000 bytes twice, at 1 us a byte.
TEST(Timeline, WaitsForWhatIsMadeLast) {
  Profile profile = simple_profile();
  profile.network.bandwidth = 1e8;  // 0.8 ms a tensor: the earlier one hides
  const Forecast found = forecast(simple_scenario(), profile);
  EXPECT_NEAR(found.step, 35 + 0.8, 1e-9);
  EXPECT_NEAR(found.wait, 0.8, 1e-9);
  EXPECT_NEAR(found.overlap, 0.5, 1e-9);
  EXPECT_EQ(found.slowdown, 0);
}

TEST(Timeline, SendsOneBufferAfterTheOther) {
  const Forecast found = forecast(simple_scenario(), simple_profile());
  // 80 ms each, the first from 5 ms of back-propagation on.
  EXPECT_NEAR(found.step, 10 + 5 + 160 + 5, 1e-6);
}

TEST(Timeline, TakesCodecsFromTheCoreThatComputes) {
  Scenario scenario = simple_scenario();
  scenario.plan = plan_for({.codec = "dynamic8"});
  scenario.plan.fusion_bytes = 1;
  Profile profile = simple_profile();
  profile.network.bandwidth = 1e12;
  const Forecast two_cores = forecast(scenario, profile);
  profile.cores = 1;
  const Forecast one_core = forecast(scenario, profile);
  EXPECT_EQ(two_cores.slowdown, 0);
  EXPECT_GT(one_core.slowdown, 0);
  // The earlier tensor's codec time is all that the core has lost.
  const double codec_ms = (one_core.encode + one_core.decode) / 2;
  EXPECT_NEAR(one_core.slowdown, codec_ms, 0.02 * codec_ms);
  profile.cores = 0.5;
  const Forecast half_a_core = forecast(scenario, profile);
  EXPECT_NEAR(half_a_core.encode, 2 * one_core.encode, 1e-9);
}

TEST(Timeline, CountsAShapedNetworkOnceForAllThatShareIt) {
  Scenario scenario = simple_scenario();
  scenario.workers = 4;
  scenario.machine_workers = 2;
  Profile profile = simple_profile();
  profile.machine_workers = 2;
  profile.machine.bandwidth = 1e12;
  const double alone = forecast(scenario, profile).wire;
  profile.network.sharing = 2;
  EXPECT_NEAR(forecast(scenario, profile).wire, 2 * alone, 1e-6);
}

TEST(Timeline, NeedsTwiceTheTimeWhereALinkGoesOneWayAtATime) {
  Profile profile = simple_profile();
  const double both = forecast(simple_scenario(), profile).wire;
  profile.network.duplex = false;
  EXPECT_NEAR(forecast(simple_scenario(), profile).wire, 2 * both, 1e-9);
}

TEST(Timeline, WaitsForTheSlowestOfManyWorkers) {
  Scenario scenario = simple_scenario();
  scenario.work.straggler = 0.1;
  scenario.workers = 2;
  const double two = forecast(scenario, simple_profile()).straggling;
  scenario.workers = 1024;
  const double many = forecast(scenario, simple_profile()).straggling;
  EXPECT_NEAR(two, 0.1 * 35 * 0.5642, 0.1);  // the mean of the larger of two normal numbers
  EXPECT_NEAR(many, 0.1 * 35 * 3.24, 0.1);
}

TEST(Expected, MaximumOfNormalNumbersIsAsTabled) {
  EXPECT_EQ(expected_maximum(1), 0);
  EXPECT_NEAR(expected_maximum(2), 0.56419, 0.03);
  EXPECT_NEAR(expected_maximum(10), 1.53875, 0.02);
  EXPECT_NEAR(expected_maximum(1000), 3.24144, 0.02);
}

// Two of four workers share a machine: in a ring, one of the two sends to the other machine.
TEST(Timeline, LetsOneWorkerOfAMachineSendAcrossInARing) {
  Scenario scenario = simple_scenario();
  scenario.workers = 4;
  scenario.machine_workers = 2;
  scenario.plan.algorithm = "ring";
  Profile profile = simple_profile();
  profile.machine_workers = 2;
  profile.network.sharing = 2;
  const Loads loads = loads_of(scenario, profile);
  EXPECT_NEAR(forecast(scenario, profile).wire, 1e3 * loads.bytes / profile.network.bandwidth,
              1e-6);
}

TEST(Loads, AreTheQuickestAlgorithmsWhenThePlanSaysAuto) {
  Scenario scenario = simple_scenario();
  scenario.workers = 64;
  scenario.plan.algorithm = "auto";
  const double chosen = forecast(scenario, simple_profile()).step;
  for (const char* name : {"direct", "ring"}) {
    scenario.plan.algorithm = name;
    EXPECT_LE(chosen, forecast(scenario, simple_profile()).step * 1.06) << name;
  }
}

RC_GTEST_PROP(Forecast, IsNeverLongerOnAQuickerNetwork, ()) {
  Scenario scenario = simple_scenario();
  scenario.workers = *rc::gen::inRange(2, 40);
  scenario.plan =
      plan_for({.codec = *rc::gen::element<std::string>("fp32", "dynamic8", "qsgd:bits=4")});
  scenario.plan.fusion_bytes = *rc::gen::inRange<std::size_t>(1, 200'000);
  Profile profile = simple_profile();
  profile.cores = *rc::gen::element(0.5, 1.0, 1.5, 2.0);
  profile.network.bandwidth = *rc::gen::inRange(1'000, 1'000'000'000);
  const double slower = forecast(scenario, profile).step;
  profile.network.bandwidth *= 2;
  RC_ASSERT(forecast(scenario, profile).step <= slower * (1 + 1e-9));
}

RC_GTEST_PROP(Forecast, IsNeverShorterThanItsParts, ()) {
  Scenario scenario = simple_scenario();
  scenario.workers = *rc::gen::inRange(2, 40);
  scenario.plan = plan_for({.codec = "dynamic8"});
  Profile profile = simple_profile();
  profile.cores = *rc::gen::element(0.5, 1.0, 2.0);
  profile.network.bandwidth = *rc::gen::inRange(1'000, 1'000'000'000);
  const Forecast found = forecast(scenario, profile);
  RC_ASSERT(found.step >= found.compute - 1e-9);
  RC_ASSERT(found.step >= found.wire - 1e-9);
  RC_ASSERT(found.step >= found.encode + found.decode - 1e-9);
  RC_ASSERT(found.low <= found.step && found.step <= found.high);
}

TEST(Forecast, HasAnIntervalOfWhatTheCalibrationWasUnsureOf) {
  Profile profile = simple_profile();
  Scenario scenario = simple_scenario();
  EXPECT_EQ(forecast(scenario, profile).low, forecast(scenario, profile).high);
  profile.network.spread = 0.1;
  const Forecast found = forecast(scenario, profile);
  // 160 ms of the step are the network's.
  EXPECT_NEAR(found.high - found.step, 1.645 * 16, 0.1);
}

TEST(Forecast, NamesTheTermWithoutWhichTheStepWereShortest) {
  Scenario scenario = simple_scenario();
  Profile profile = simple_profile();
  EXPECT_EQ(dominant_term(scenario, loads_of(scenario, profile), profile), "network");
  profile.network.bandwidth = 1e12;
  EXPECT_EQ(dominant_term(scenario, loads_of(scenario, profile), profile), "compute");
  profile.network.latency_us = 1e6;
  EXPECT_EQ(dominant_term(scenario, loads_of(scenario, profile), profile), "latency");
}

TEST(BreakEven, IsWhereBothTakeAsLong) {
  const Scenario wide = simple_scenario();
  Scenario narrow = wide;
  narrow.plan = plan_for({.codec = "dynamic8"});
  narrow.plan.fusion_bytes = 1;
  Profile profile = simple_profile();
  TrafficBook book;
  const double bandwidth = break_even({narrow, wide}, profile, book);
  ASSERT_GT(bandwidth, 0);
  ASSERT_TRUE(std::isfinite(bandwidth));
  profile.network.bandwidth = bandwidth;
  EXPECT_NEAR(forecast(narrow, profile).step, forecast(wide, profile).step, 0.01);
}

TEST(BreakEven, IsNowhereForACodecThatCostsNothingOrEverything) {
  const Scenario wide = simple_scenario();
  Scenario narrow = wide;
  narrow.plan = plan_for({.codec = "dynamic8"});
  narrow.plan.fusion_bytes = 1;
  Profile profile = simple_profile();
  profile.codecs[1] = {.codec = "*"};
  TrafficBook book;
  EXPECT_EQ(break_even({narrow, wide}, profile, book), std::numeric_limits<double>::infinity());
  EXPECT_EQ(break_even({wide, wide}, profile, book), 0);
}

TEST(Workload, ScalesWithTheBatchAndKeepsTheOptimiser) {
  Profile profile = simple_profile();
  profile.models = {{.name = "mine",
                     .batch = 8,
                     .forward_ms = 1,
                     .backward_ms = 2,
                     .rest_ms = 3,
                     .tensors = {{"w", 100, 2}}}};
  const Workload work = workload_of(profile, "mine", 16);
  EXPECT_EQ(work.forward_ms, 2);
  EXPECT_EQ(work.backward_ms, 4);
  EXPECT_EQ(work.rest_ms, 3);
  EXPECT_EQ(work.tensors[0].ready_ms, 4);
  EXPECT_EQ(workload_of(profile, "mine", 0).batch, 8);
}

TEST(Workload, ComesFromTheTableWhereNothingWasMeasured) {
  Profile profile = simple_profile();
  EXPECT_THROW(workload_of(profile, "resnet50", 32), Error);  // it does not say how quick it is
  profile.compute.flops = 1e12;
  const Workload work = workload_of(profile, "resnet50", 32);
  const Model model = make_model("resnet50");
  EXPECT_NEAR(work.compute_ms(), 32 * model.flops() / 1e9, 1e-6);
  EXPECT_EQ(work.tensors.front().name, model.layers.back().tensors.back().name);
  EXPECT_THROW(workload_of(profile, "resnet51", 32), Error);
}

TEST(ModelParallelism, SendsActivationsInsteadOfGradients) {
  Profile profile = simple_profile();
  profile.compute.flops = 1e12;
  Scenario scenario{.work = workload_of(profile, "mnist-mlp", 128)};
  const double gradients = loads_of(scenario, profile).bytes;
  scenario.parallel = Parallel::model;
  const Loads loads = loads_of(scenario, profile);
  // Of 256 images, each of two workers sends its half of (1024 + 1024 + 10) outputs, and of the sums of
  // the errors of (1024 + 1024) inputs one half to add up and one that is added up.
  EXPECT_NEAR(loads.bytes, 4.0 * 128 * (1024 + 1024 + 10 + 2 * (1024 + 1024)), 4096);
  EXPECT_LT(loads.bytes, gradients);
  Scenario convolutions{.work = workload_of(profile, "alexnet", 8), .parallel = Parallel::model};
  EXPECT_THROW(loads_of(convolutions, profile), Error);
  for (const Shipment& shipment : loads.shipments) EXPECT_TRUE(shipment.waits);
}

TEST(HybridParallelism, HidesSubBatchesBehindEachOther) {
  Profile profile = simple_profile();
  profile.compute.flops = 1e12;
  profile.network.bandwidth = 1e9;
  Scenario scenario{.work = workload_of(profile, "alexnet", 128), .workers = 4};
  scenario.parallel = Parallel::hybrid;
  const double at_once = forecast(scenario, profile).step;
  scenario.sub_batches = 4;
  EXPECT_LT(forecast(scenario, profile).step, at_once);
  const Scenario unconnected{.work = simple_work(), .parallel = Parallel::model};
  EXPECT_THROW(loads_of(unconnected, profile), Error);
}

}  // namespace
}  // namespace narrowcast
