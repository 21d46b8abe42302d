#include <gmock/gmock.h>

#include <set>

#include "base/error.hpp"
#include "tests/run/scratch.hpp"

namespace narrowcast::test {
namespace {

template <class Rows>
void expect_distinct_names(const Rows& rows) {
  std::set<std::string_view> names;
  for (const auto& row : rows) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_FALSE(row.summary.empty()) << row.name;
  }
}

TEST(EveryNetwork, HasARecipeOfItsName) {
  expect_distinct_names(networks());
  for (const NetworkRow& row : networks()) {
    narrowcast::Run run;
    recipe_of(row.name).apply(run);
    EXPECT_EQ(run.net, row.name);
    EXPECT_EQ(run.data, row.data);
  }
}

TEST(EveryNetwork, IsFoundByItsName) {
  for (const NetworkRow& row : networks()) EXPECT_EQ(&network_row(row.name), &row);
  EXPECT_THROW(network_row("mlp"), Error);
}

TEST(EveryNetwork, HasThePublishedNumberOfParameters) {
  EXPECT_EQ(network_row("mnist-mlp").parameters, 1'863'690u);
  EXPECT_EQ(network_row("alexnet").parameters, 62'378'344u);
  EXPECT_EQ(network_row("vgg19").parameters, 143'667'240u);
  EXPECT_EQ(network_row("resnet50").parameters, 25'557'032u);
  EXPECT_EQ(network_row("resnet152").parameters, 60'192'808u);
}

TEST(EveryRecipe, MakesARunThatGoesTogether) {
  expect_distinct_names(recipes());
  for (const Recipe& recipe : recipes()) {
    const auto run = run_with({"setup=" + std::string(recipe.name)});
    EXPECT_EQ(run.setup, recipe.name);
    EXPECT_EQ(network_row(run.net).name, run.net);
    EXPECT_EQ(run.plan, Plan{}) << "a codec is chosen by whoever runs it";
  }
}

TEST(EveryRecipe, LeavesNothingOfWhatWasThere) {
  for (const Recipe& recipe : recipes()) {
    narrowcast::Run fresh;
    recipe.apply(fresh);
    auto used = run_with({"setup=a20-resnet18", "seed=7", "clip=3"});
    recipe.apply(used);
    EXPECT_EQ(to_toml(used), to_toml(fresh)) << recipe.name;
  }
}

TEST(TheRecipesOfPapers, HaveTheirSettings) {
  const auto literal = run_with({"setup=d16-literal"});
  EXPECT_EQ(literal.net, "mnist-mlp");
  EXPECT_EQ(literal.epochs, 75);
  EXPECT_EQ(literal.batch, 128);
  EXPECT_EQ(literal.optimiser, (Optimiser{.name = "rmsprop", .rate = 0.003, .decay = 0.9}));
  EXPECT_EQ(literal.schedule, (Schedule{.shape = "exponential", .factor = 0.99}));

  const auto resnet = run_with({"setup=a20-resnet18"});
  const auto rate = [](const narrowcast::Run& run, double epoch) {
    return run.optimiser.rate * rate_factor(run.schedule, epoch, run.epochs);
  };
  EXPECT_DOUBLE_EQ(rate(resnet, 0), 0.1);
  EXPECT_DOUBLE_EQ(rate(resnet, 5), 1.6);
  EXPECT_DOUBLE_EQ(rate(resnet, 40), 0.16);
  EXPECT_DOUBLE_EQ(rate(resnet, 80), 0.016);

  const auto david = run_with({"setup=a20-davidnet"});
  EXPECT_TRUE(david.optimiser.nesterov);
  EXPECT_DOUBLE_EQ(rate(david, 0), 0);
  EXPECT_DOUBLE_EQ(rate(david, 5), 0.4);
  EXPECT_DOUBLE_EQ(rate(david, 25), 0);
}

}  // namespace
}  // namespace narrowcast::test
