// What was measured by others, on machines that nobody has any more.
#include <gtest/gtest.h>

#include "predict/forecast.hpp"
#include "predict/papers.hpp"

namespace narrowcast {
namespace {

// CNTK sends when back-propagation is over: everything in one buffer.
Plan all_at_the_end(const std::string& codec) {
  Plan plan = plan_for({.codec = codec});
  plan.fusion_bytes = std::size_t{1} << 40;
  return plan;
}

struct Published {
  const char* name;
  Workload work;
  const char* codec;
  int workers;
  double gain;    // end to end over 32 bit, QSGD's table
  double within;  // a part of it
};

Profile k80() { return find_profile("ec2-k80"); }

Scenario scenario_of(const Published& published, const std::string& codec) {
  return {.work = published.work,
          .plan = all_at_the_end(codec),
          .workers = published.workers,
          .machine_workers = k80().machine_workers};
}

// Measured on four GPUs; D16 checked its own model against it.
TEST(Krizhevsky, MeasuredWhatTheModelOfOneNodePredicts) {
  for (const PaperFigure& figure : paper_model("d16-node").figures(Errata::as_printed))
    EXPECT_NEAR(figure.computed, 3.66, 0.04 * 3.66) << figure.setting << ' ' << figure.bits;
}

TEST(Qsgd, GainedOnEc2WhatIsPredicted) {
  const ComputeProfile compute = k80().compute;
  const auto work = [&](const char* name, int batch) {
    return workload_of(compute, make_model(name), batch);
  };
  const std::vector<Published> table = {
      // The profile was fitted to these three.
      {"alexnet", work("alexnet", 128), "qsgd:bits=4", 8, 2.05, 0.05},
      {"resnet152", work("resnet152", 16), "qsgd:bits=8", 8, 1.56, 0.05},
      {"resnet110", work("resnet110", 16), "qsgd:bits=4", 8, 1.10, 0.05},
      // And not to these.
      {"resnet50", work("resnet50", 32), "qsgd:bits=4", 8, 1.26, 0.25},
      // A batch of 256 frames in pieces of 20, on two workers.
      {"lstm-an4", work("lstm-an4", 6), "qsgd:bits=4", 2, 2.0, 0.25},
  };
  for (const Published& row : table) {
    const double gain = forecast(scenario_of(row, "fp32"), k80()).step /
                        forecast(scenario_of(row, row.codec), k80()).step;
    EXPECT_NEAR(gain, row.gain, row.within * row.gain) << row.name;
    RecordProperty(row.name, std::to_string(gain));
  }
}

TEST(Qsgd, FoundAlexNetOnSixteenGpusToCommunicateFourFifthsOfTheTime) {
  const Published row{
      "alexnet", workload_of(k80().compute, make_model("alexnet"), 64), "fp32", 16, 0, 0};
  const Forecast found = forecast(scenario_of(row, "fp32"), k80());
  EXPECT_GT(found.wait / found.step, 0.8);
}

}  // namespace
}  // namespace narrowcast
