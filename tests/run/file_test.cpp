#include <gmock/gmock.h>

#include <fstream>

#include "base/error.hpp"
#include "tests/run/scratch.hpp"

namespace narrowcast::test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

TEST(ARunFile, HasFlatKeysAndTables) {
  const auto run = run_of(R"(
    net = "resnet20"
    epochs = 3
    flip = false

    [optimiser]
    rate = 0.05
    nesterov = true

    [schedule]
    at = [1, 2.5]

    [plan]
    fusion = "1MiB"
    algorithm = "ring"
    [[plan.rule]]
    tensors = "*"
    codec = "dynamic8"
    [plan.activations]
    codec = "linear8"
  )");
  EXPECT_EQ(run.net, "resnet20");
  EXPECT_EQ(run.epochs, 3);
  EXPECT_FALSE(run.flip);
  EXPECT_EQ(run.optimiser.rate, 0.05);
  EXPECT_TRUE(run.optimiser.nesterov);
  EXPECT_EQ(run.schedule.at, (std::vector<double>{1, 2.5}));
  EXPECT_EQ(run.plan.fusion_bytes, 1u << 20);
  EXPECT_EQ(run.plan.algorithm, "ring");
  EXPECT_EQ(run.plan.rules, (std::vector<Rule>{{.pattern = "*", .way = {.codec = "dynamic8"}}}));
  EXPECT_EQ(run.plan.activations.codec, "linear8");
}

TEST(ARunFile, SaysWhereEachSettingStands) {
  const auto settings = settings_in("\nepochs = 3\n[optimiser]\n\nrate = 1\n");
  ASSERT_EQ(settings.size(), 2u);
  EXPECT_EQ(settings[0].key, "epochs");
  EXPECT_EQ(settings[0].value, "3");
  EXPECT_THAT(settings[0].origin, EndsWith("run.toml:2"));
  EXPECT_EQ(settings[1].key, "optimiser.rate");
  EXPECT_THAT(settings[1].origin, EndsWith("run.toml:5"));
}

TEST(ARunFile, IsAnsweredWithTheLineOfTheMistake) {
  EXPECT_EQ(file_refusal("net = 'lstm'\nepoch = 3"),
            "run.toml:2: unknown key 'epoch'; did you mean 'epochs'?");
  EXPECT_EQ(file_refusal("\n\nepochs = 'many'"),
            "run.toml:3: epochs is a whole number from 1, not 'many'");
  EXPECT_THAT(file_refusal("[optimiser]\nname = 'sdg'"), StartsWith("run.toml:2: optimiser.name"));
  EXPECT_THAT(file_refusal("epochs = [[1]]"), StartsWith("run.toml:1: "));
  EXPECT_THAT(file_refusal("epochs = [1, 2]"), StartsWith("run.toml:1: "));
  EXPECT_THAT(file_refusal("[epochs]\nx = 1"), StartsWith("run.toml:2: unknown key 'epochs.x'"));
  EXPECT_THAT(file_refusal("epochs = 1\nepochs = 2"), StartsWith("run.toml:2: "));
  EXPECT_THAT(file_refusal("net = 'lstm'\nresume = true"), StartsWith("run.toml:2: resume needs"));
}

TEST(ARunFile, IsAnsweredWithTheLineOfTheMistakeInItsPlan) {
  EXPECT_THAT(file_refusal("[plan]\n\nfusoin = 3"), StartsWith("run.toml:3: unknown key 'fusoin'"));
  EXPECT_THAT(file_refusal("[[plan.rule]]\ntensors='*'\ncodec='fp32'\n[[plan.rule]]\ntensors='*'\n"
                           "codec='dynamic9'"),
              StartsWith("run.toml:6: no codec"));
}

TEST(ARunFile, NamesAPlanBesideIt) {
  const ScratchFile file("plan = 'plan.toml'\n");
  std::ofstream(file.path().parent_path() / "plan.toml")
      << "group = 4\n[[rule]]\ntensors='a'\ncodec='e4m3'\n";
  const auto run = resolve_run(read_settings(file.path()));
  EXPECT_EQ(run.plan.group, 4);
  EXPECT_EQ(run.plan.rules.size(), 1u);
}

TEST(ARunFile, WithAMistakeInThePlanBesideItNamesThat) {
  const ScratchFile plan("\nalgorithm = 'tree'", "other.toml");
  try {
    run_with({"plan=" + plan.path().string()});
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), StartsWith(plan.path().string() + ":2: algorithm is one of"));
  }
}

TEST(ARunFile, ThatCannotBeReadSaysSo) {
  try {
    read_settings("there/is/no.toml");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::system);
    EXPECT_THAT(error.what(), HasSubstr("there/is/no.toml"));
  }
}

TEST(ARunFile, OfEveryRecipeComesBack) {
  for (const Recipe& recipe : recipes()) {
    const auto run = run_with({"setup=" + std::string(recipe.name)});
    EXPECT_EQ(to_toml(run_of(to_toml(run))), to_toml(run)) << recipe.name;
  }
}

TEST(ARunFile, OfEveryKindOfPlanComesBack) {
  const auto run = run_of(R"(
    [[plan.rule]]
    tensors = "we\"ird\\*"
    codec = "fp32"
    [[plan.rule.schedule]]
    step = 30
    codec = "float:e=4,m=3"
    scaling = "aps-tight"
    feedback = true
  )");
  const auto again = run_of(to_toml(run));
  EXPECT_EQ(again.plan, run.plan);
  EXPECT_EQ(again.plan.rules.at(0).pattern, R"(we"ird\*)");
  EXPECT_EQ(again.plan.rules.at(0).schedule.at(0).way,
            (Way{"float:e=4,m=3", Scaling::aps_tight, Feedback::on}));
}

}  // namespace
}  // namespace narrowcast::test
