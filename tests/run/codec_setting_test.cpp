#include <gmock/gmock.h>

#include "tests/run/scratch.hpp"

namespace narrowcast::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::vector<Rule> all(const Way& way) { return plan_for(way).rules; }

TEST(TheSettingCodec, IsOneRuleForAllTensors) {
  EXPECT_EQ(run_with({"codec=dynamic8"}).plan.rules, all({.codec = "dynamic8"}));
  EXPECT_EQ(run_with({"codec=float:e=4,m=3", "scaling=aps"}).plan.rules,
            all({.codec = "float:e=4,m=3", .scaling = Scaling::aps}));
}

TEST(TheSettingCodec, BringsFeedbackForOnebitUnlessTold) {
  EXPECT_EQ(run_with({"codec=onebit:column=512"}).plan.rules,
            all({.codec = "onebit:column=512", .feedback = Feedback::on}));
  EXPECT_EQ(run_with({"feedback=false", "codec=onebit"}).plan.rules, all({.codec = "onebit"}));
  EXPECT_EQ(run_with({"codec=dynamic8", "feedback=true"}).plan.rules,
            all({.codec = "dynamic8", .feedback = Feedback::on}));
}

TEST(TheSettingCodec, ReplacesTheRulesOfAPlanBeforeIt) {
  const auto run =
      run_with({"plan.group=3", "plan.rule=[{ tensors = 'a', codec = 'e4m3' }]", "codec=linear8"});
  EXPECT_EQ(run.plan.rules, all({.codec = "linear8"}));
  EXPECT_EQ(run.plan.group, 3);
}

TEST(TheSettingCodec, GivesWayToAPlanAfterIt) {
  const ScratchFile plan("[[rule]]\ntensors='a'\ncodec='e4m3'\n", "plan.toml");
  const std::vector<Rule> expected{{.pattern = "a", .way = {.codec = "e4m3"}}};
  EXPECT_EQ(run_with({"codec=onebit", "feedback=false", "plan=" + plan.path().string()}).plan.rules,
            expected);
  EXPECT_EQ(run_with({"codec=onebit", "plan.rule=[{ tensors = 'a', codec = 'e4m3' }]"}).plan.rules,
            expected);
}

TEST(TheSettingCodec, ReplacesTheRulesOfAPlanFileNamedWithIt) {
  const ScratchFile plan("[[rule]]\ntensors='a'\ncodec='e4m3'\n", "plan.toml");
  EXPECT_EQ(run_of("codec = 'linear8'\nplan = '" + plan.path().string() + "'").plan.rules,
            all({.codec = "linear8"}));
}

TEST(TheSettingCodec, AndRulesInOneFileExcludeEachOther) {
  EXPECT_EQ(file_refusal("codec = 'linear8'\n[[plan.rule]]\ntensors='a'\ncodec='e4m3'"),
            "run.toml:1: codec and the rules of [plan] exclude each other");
}

TEST(TheSettingCodec, IsAlsoForActivationsWhereLayersAreSplit) {
  for (const char* parallel : {"parallel=model", "parallel=hybrid"}) {
    const Plan plan = run_with({"codec=onebit", parallel}).plan;
    EXPECT_EQ(plan.activations, Way{.codec = "onebit"});
    EXPECT_EQ(plan.errors, Way{.codec = "onebit"});
  }
  EXPECT_EQ(run_with({"codec=onebit", "parallel=data"}).plan.activations, Way{});
}

TEST(TheSettingCodec, LeavesActivationsThatWereSetAfterIt) {
  const Plan plan =
      run_with({"plan.errors=e5m2", "codec=dynamic8", "parallel=model", "plan.activations=e4m3"})
          .plan;
  EXPECT_EQ(plan.activations, Way{.codec = "e4m3"});
  EXPECT_EQ(plan.errors, Way{.codec = "dynamic8"});
}

TEST(TheSettingCodec, IsChecked) {
  EXPECT_THAT(refusal({"codec=dynamic9"}), StartsWith("--codec: no codec"));
  EXPECT_THAT(refusal({"codec=dynamic8", "scaling=aps"}), HasSubstr("float, e4m3 and e5m2"));
  EXPECT_THAT(refusal({"codec=e4m3", "scaling=much"}), StartsWith("--scaling: scaling is one of"));
  EXPECT_THAT(refusal({"codec=e4m3", "feedback=much"}), StartsWith("--feedback: feedback is true"));
}

TEST(TheSettingCodec, IsMissedByScalingAndFeedback) {
  EXPECT_THAT(refusal({"scaling=aps"}), StartsWith("--scaling: scaling goes with codec"));
  EXPECT_THAT(refusal({"feedback=true"}), StartsWith("--feedback: feedback goes with codec"));
}

TEST(TheSettingsOfAPlan, AreChecked) {
  EXPECT_THAT(refusal({"plan.algorithm=tree"}),
              StartsWith("--plan.algorithm: algorithm is one of"));
  EXPECT_THAT(refusal({"plan.rule=[{ tensors = 'a' }]"}), StartsWith("--plan.rule: a rule needs"));
  EXPECT_THAT(refusal({"plan.rule=[{"}), StartsWith("--plan.rule: "));
  EXPECT_THAT(refusal({"plan.errors=dynamic9"}), StartsWith("--plan.errors: no codec"));
  EXPECT_THAT(refusal({"plan="}), StartsWith("--plan: "));
}

}  // namespace
}  // namespace narrowcast::test
