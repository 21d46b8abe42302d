#include <gmock/gmock.h>

#include <map>
#include <set>

#include "base/error.hpp"
#include "run/settings/keys.hpp"
#include "tests/run/scratch.hpp"

namespace narrowcast::test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::StartsWith;

// For each key a value that is not the default.
const std::map<std::string, std::string>& other_values() {
  static const std::map<std::string, std::string> kValues{
      {"setup", "a20-davidnet"},
      {"net", "resnet20"},
      {"data", "some \"folder\"\\"},
      {"data_folder", "a/b c"},
      {"parallel", "hybrid"},
      {"epochs", "7"},
      {"steps", "12345678901"},
      {"batch", "96"},
      {"accumulate", "3"},
      {"split", "input"},
      {"sub_batches", "4"},
      {"seed", "18446744073709551615"},
      {"clip", "0.1"},
      {"pad", "2"},
      {"crop", "24"},
      {"flip", "true"},
      {"dropout", "false"},
      {"checkpoint", "points"},
      {"checkpoint_every", "50"},
      {"resume", "true"},
      {"weights", "w.safetensors"},
      {"hash_every", "1"},
      {"threads", "3"},
      {"test", "false"},
      {"optimiser.name", "lars"},
      {"optimiser.rate", "0.30000000000000004"},
      {"optimiser.momentum", "0.95"},
      {"optimiser.nesterov", "true"},
      {"optimiser.decay", "0.8"},
      {"optimiser.decay2", "0.99"},
      {"optimiser.epsilon", "1e-05"},
      {"optimiser.weight_decay", "0.0001"},
      {"optimiser.trust", "0.02"},
      {"schedule.shape", "cosine"},
      {"schedule.warm_up", "2.5"},
      {"schedule.warm_from", "0.0625"},
      {"schedule.factor", "0.1"},
      {"schedule.at", "30,60.5"},
  };
  return kValues;
}

// What else a value needs to go with it.
std::vector<std::string> company_of(const std::string& key) {
  if (key == "sub_batches") return {"parallel=hybrid"};
  if (key == "split") return {"parallel=model"};
  if (key == "resume" || key == "checkpoint_every") return {"checkpoint=points"};
  if (key == "optimiser.nesterov") return {"optimiser.name=sgd", "optimiser.momentum=0.9"};
  if (key == "optimiser.momentum") return {"optimiser.name=sgd"};
  if (key == "schedule.at") return {"schedule.shape=steps", "schedule.at=1"};
  if (key == "schedule.warm_from") return {"schedule.warm_up=1"};
  return {};
}

TEST(EveryKeyOfARun, ComesBackFromTheRunsText) {
  for (const RunKey& row : run_key_rows()) {
    const std::string key(row.name);
    SCOPED_TRACE(key);
    ASSERT_TRUE(other_values().contains(key)) << "the test has no value for it";
    std::vector<std::string> settings = company_of(key);
    const auto before = run_with(settings);
    settings.push_back(key + "=" + other_values().at(key));
    const auto run = run_with(settings);
    EXPECT_NE(row.text(run), row.text(before));
    EXPECT_EQ(row.text(run_of(to_toml(run))), row.text(run));
    EXPECT_EQ(to_toml(run_of(to_toml(run))), to_toml(run));
  }
}

TEST(EveryKeyOfARun, IsSetFromTheTextOfTheCommandLine) {
  for (const RunKey& row : run_key_rows()) {
    narrowcast::Run run;
    const std::string& value = other_values().at(std::string(row.name));
    ASSERT_TRUE(row.set(run, value)) << row.name;
    std::string text = row.text(run);
    if (row.name == "data")
      EXPECT_EQ(text, R"("some \"folder\"\\")");
    else
      EXPECT_THAT((std::set<std::string>{value, "\"" + value + "\"", "[30, 60.5]"}), Contains(text))
          << row.name;
  }
}

TEST(EveryKeyOfARun, RefusesWhatDoesNotFitAndSaysWhatWould) {
  const std::set<std::string_view> any_text{"data_folder", "checkpoint", "weights", "data"};
  for (const RunKey& row : run_key_rows()) {
    if (any_text.contains(row.name)) continue;
    const std::string message = refusal({std::string(row.name) + "=blue\nsky"});
    EXPECT_THAT(message, StartsWith("--" + std::string(row.name) + ": ")) << row.name;
    EXPECT_THAT(message, HasSubstr("blue\\u000Asky")) << row.name;
  }
}

TEST(EveryKeyOfARun, RefusesTextThatIsNoUtf8) {
  for (const std::string_view key : run_keys())
    EXPECT_THAT(refusal({std::string(key) + "=\xff"}), StartsWith("--" + std::string(key) + ": "));
}

TEST(EveryKeyOfARun, IsListed) {
  for (const RunKey& row : run_key_rows()) EXPECT_THAT(run_keys(), Contains(row.name));
  for (const std::string_view key : plan_keys())
    EXPECT_THAT(run_keys(), Contains("plan." + std::string(key)));
  for (const char* key :
       {"codec", "scaling", "feedback", "plan", "plan.rule", "plan.activations", "plan.errors"})
    EXPECT_THAT(run_keys(), Contains(key));
}

TEST(ARun, IsTheNetworksOwnRecipeWithoutSettings) {
  narrowcast::Run expected;
  recipe_of("mnist-mlp").apply(expected);
  EXPECT_EQ(to_toml(run_with({})), to_toml(expected));
}

TEST(ARun, TakesTheLaterOfTwoSettings) {
  EXPECT_EQ(run_with({"epochs=3", "epochs=4"}).epochs, 4);
  EXPECT_EQ(to_toml(run_with({"net=resnet20", "net=lstm"})), to_toml(run_with({"net=lstm"})));
  EXPECT_EQ(to_toml(run_with({"setup=d16-cifar", "setup=a20-davidnet"})),
            to_toml(run_with({"setup=a20-davidnet"})));
  EXPECT_EQ(run_with({"plan.fusion=1MiB", "plan.fusion=2MiB"}).plan.fusion_bytes, 2u << 20);
}

TEST(ARun, LaysSettingsOverItsRecipeWhateverTheirOrder) {
  const auto run = run_with({"epochs=3", "optimiser.rate=0.5", "setup=a20-resnet18"});
  EXPECT_EQ(run.epochs, 3);
  EXPECT_EQ(run.optimiser.rate, 0.5);
  EXPECT_EQ(run.net, "resnet18");
  EXPECT_EQ(run.batch, 512);
  EXPECT_EQ(run_with({"setup=a20-resnet18", "net=davidnet"}).net, "davidnet");
}

TEST(ARun, DropsTheNumbersOfAnOptimiserThatIsReplaced) {
  EXPECT_EQ(run_with({"net=davidnet"}).optimiser.nesterov, true);
  EXPECT_EQ(run_with({"net=davidnet", "optimiser.name=adam"}).optimiser,
            (Optimiser{.name = "adam", .rate = 0.001}));
  EXPECT_EQ(run_with({"net=davidnet", "optimiser.rate=0.01", "optimiser.name=adam"}).optimiser.rate,
            0.01);
  EXPECT_EQ(run_with({"net=davidnet", "optimiser.name=sgd"}).optimiser.nesterov, true);
}

TEST(ARun, KeepsTheWarmUpOfAScheduleThatIsReplaced) {
  EXPECT_EQ(run_with({"net=resnet110", "schedule.shape=cosine"}).schedule,
            (Schedule{.shape = "cosine", .warm_up = 1, .warm_from = 0.1}));
}

TEST(ARun, WithAnUnknownKeyNamesTheNearest) {
  EXPECT_EQ(refusal({"epoch=3"}), "--epoch: unknown key 'epoch'; did you mean 'epochs'?");
  EXPECT_EQ(refusal({"optimizer.rate=3"}),
            "--optimizer.rate: unknown key 'optimizer.rate'; did you mean 'optimiser.rate'?");
  EXPECT_EQ(refusal({"plan.fusoin=3"}),
            "--plan.fusoin: unknown key 'plan.fusoin'; did you mean 'plan.fusion'?");
  EXPECT_THAT(refusal({"colour=blue"}), HasSubstr("there are: setup, net, "));
}

TEST(ARun, WithAnUnknownNetworkOrRecipeListsThem) {
  for (const NetworkRow& row : networks())
    EXPECT_THAT(refusal({"net=blue"}), HasSubstr(std::string(row.name)));
  for (const Recipe& row : recipes())
    EXPECT_THAT(refusal({"setup=blue"}), HasSubstr(std::string(row.name)));
}

TEST(ARun, RefusesSettingsThatDoNotGoTogether) {
  EXPECT_EQ(refusal({"resume=true"}),
            "--resume: resume needs checkpoint, the folder to go on from");
  EXPECT_THAT(refusal({"checkpoint_every=5"}), StartsWith("--checkpoint_every: "));
  EXPECT_THAT(refusal({"sub_batches=2"}), HasSubstr("hybrid"));
  EXPECT_THAT(refusal({"sub_batches=3", "batch=128", "parallel=hybrid"}),
              HasSubstr("a batch of 128 cannot be cut into 3"));
  EXPECT_THAT(refusal({"optimiser.name=sgd", "optimiser.nesterov=true"}),
              HasSubstr("nesterov needs a momentum"));
  EXPECT_THAT(refusal({"optimiser.name=adam", "optimiser.nesterov=true"}), HasSubstr("adam"));
  EXPECT_THAT(refusal({"optimiser.name=adam", "optimiser.momentum=0.9"}), HasSubstr("adam"));
  EXPECT_THAT(refusal({"schedule.shape=steps", "schedule.factor=0.1"}), HasSubstr("needs at"));
  EXPECT_THAT(refusal({"schedule.shape=cosine", "schedule.at=3"}), HasSubstr("cosine"));
  EXPECT_THAT(refusal({"schedule.shape=linear", "schedule.factor=0.5"}), HasSubstr("linear"));
  EXPECT_THAT(refusal({"schedule.warm_from=0.5"}), HasSubstr("warm_up"));
}

TEST(ARun, RefusesNumbersOutOfRange) {
  for (const char* setting : {"epochs=0",
                              "epochs=-1",
                              "epochs=2147483648",
                              "epochs=1.5",
                              "batch=0",
                              "accumulate=0",
                              "threads=0",
                              "seed=-1",
                              "seed=18446744073709551616",
                              "clip=-1",
                              "clip=nan",
                              "pad=-1",
                              "optimiser.rate=0",
                              "optimiser.rate=-1",
                              "optimiser.rate=inf",
                              "optimiser.momentum=1",
                              "optimiser.decay=1",
                              "optimiser.epsilon=0",
                              "optimiser.weight_decay=-1",
                              "schedule.warm_up=-1",
                              "schedule.warm_from=2",
                              "schedule.factor=0",
                              "schedule.at=3,2",
                              "schedule.at=0",
                              "schedule.at=1,",
                              "schedule.at=,1",
                              "flip=1",
                              "resume=yes",
                              "data="})
    EXPECT_THAT(refusal({setting}), HasSubstr(", not '")) << setting;
}

}  // namespace
}  // namespace narrowcast::test
