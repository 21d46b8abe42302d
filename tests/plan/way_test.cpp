#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "plan/plan.hpp"

namespace narrowcast::test {
namespace {

constexpr std::size_t kMany = 1'000'000;

std::string codec_of(const Plan& plan, std::string_view tensor, const Moment& moment = {}) {
  return way_of(plan, tensor, kMany, moment).codec;
}

bool takes(const std::string& pattern, std::string_view name) {
  const Plan plan{.rules = {{.pattern = pattern, .way = {.codec = "dynamic8"}}}};
  return codec_of(plan, name) == "dynamic8";
}

// The definition, word by word.
bool takes_by_definition(std::string_view pattern, std::string_view name) {
  if (pattern.empty()) return name.empty();
  if (pattern[0] == '*')
    return takes_by_definition(pattern.substr(1), name) ||
           (!name.empty() && takes_by_definition(pattern, name.substr(1)));
  return !name.empty() && (pattern[0] == '?' || pattern[0] == name[0]) &&
         takes_by_definition(pattern.substr(1), name.substr(1));
}

TEST(APattern, IsAnsweredByWholeNames) {
  EXPECT_TRUE(takes("features.conv1.weight", "features.conv1.weight"));
  EXPECT_FALSE(takes("features", "features.conv1.weight"));
  EXPECT_FALSE(takes("weight", "features.conv1.weight"));
  EXPECT_FALSE(takes("features.conv1.weight", "features_conv1_weight"));
  EXPECT_FALSE(takes("Features.*", "features.conv1.weight"));
}

TEST(APattern, LetsAStarStandForAnyText) {
  EXPECT_TRUE(takes("*", ""));
  EXPECT_TRUE(takes("*", "features.conv1.weight"));
  EXPECT_TRUE(takes("features.*", "features.conv1.weight"));
  EXPECT_TRUE(takes("*.weight", "features.conv1.weight"));
  EXPECT_TRUE(takes("*.conv*.w*", "features.conv1.weight"));
  EXPECT_TRUE(takes("a*b", "ab"));
  EXPECT_TRUE(takes("*ab", "aab"));
  EXPECT_TRUE(takes("a*ba*c", "abababc"));
  EXPECT_FALSE(takes("features.*", "classifier.fc.weight"));
  EXPECT_FALSE(takes("a*b", "abc"));
}

TEST(APattern, LetsAQuestionMarkStandForOneCharacter) {
  EXPECT_TRUE(takes("conv?", "conv1"));
  EXPECT_FALSE(takes("conv?", "conv"));
  EXPECT_FALSE(takes("conv?", "conv10"));
  EXPECT_TRUE(takes("conv?*", "conv10"));
}

TEST(APattern, WithManyStarsIsNoBurden) {
  std::string pattern;
  for (int i = 0; i < 200; ++i) pattern += "*a";
  EXPECT_FALSE(takes(pattern + "b", std::string(100'000, 'a')));
}

RC_GTEST_PROP(APattern, FollowsItsDefinition, ()) {
  const auto any = [](const char* letters) {
    return rc::gen::container<std::string>(rc::gen::elementOf(std::string(letters)));
  };
  const std::string pattern = *rc::gen::resize(10, any("ab*?"));
  const std::string name = *rc::gen::resize(10, any("ab"));
  RC_ASSERT(takes(pattern, name) == takes_by_definition(pattern, name));
}

TEST(APlan, FollowsTheFirstRuleThatMatches) {
  const Plan plan{.rules = {{.pattern = "classifier.fc3.*", .way = {}},
                            {.pattern = "classifier.*", .way = {.codec = "dynamic8"}},
                            {.pattern = "*.weight", .way = {.codec = "e4m3"}}}};
  EXPECT_EQ(codec_of(plan, "classifier.fc3.weight"), "fp32");
  EXPECT_EQ(codec_of(plan, "classifier.fc1.weight"), "dynamic8");
  EXPECT_EQ(codec_of(plan, "features.conv1.weight"), "e4m3");
}

TEST(APlan, SendsAsItIsWhatNoRuleMatches) {
  EXPECT_EQ(codec_of(Plan{}, "weight"), "fp32");
  const Plan plan{.rules = {{.pattern = "a.*", .way = {.codec = "dynamic8"}}}};
  EXPECT_EQ(way_of(plan, "b.weight", kMany, {}), Way{});
}

TEST(APlan, SendsSmallTensorsAsTheyAre) {
  const Plan plan = plan_for({.codec = "dynamic8", .feedback = Feedback::on});
  EXPECT_EQ(plan.min_elements, 10'000u);
  EXPECT_EQ(way_of(plan, "bias", 9'999, {}), Way{});
  EXPECT_EQ(way_of(plan, "bias", 10'000, {}).codec, "dynamic8");
  Plan all = plan;
  all.min_elements = 0;
  EXPECT_EQ(way_of(all, "bias", 0, {}).codec, "dynamic8");
}

TEST(ASchedule, ChangesAtItsEpochs) {
  const Plan plan{
      .rules = {{.pattern = "*",
                 .way = {},
                 .unit = Unit::epoch,
                 .schedule = {{30, {.codec = "dynamic8"}}, {60, {.codec = "onebit"}}}}}};
  const auto at = [&](std::uint64_t epoch) {
    return codec_of(plan, "weight", {.step = 1000, .epoch = epoch});
  };
  EXPECT_EQ(at(0), "fp32");
  EXPECT_EQ(at(29), "fp32");
  EXPECT_EQ(at(30), "dynamic8");
  EXPECT_EQ(at(59), "dynamic8");
  EXPECT_EQ(at(60), "onebit");
  EXPECT_EQ(at(1'000'000), "onebit");
}

TEST(ASchedule, ChangesAtItsSteps) {
  const Plan plan{.rules = {{.pattern = "*",
                             .way = {},
                             .unit = Unit::step,
                             .schedule = {{500, {.codec = "dynamic8"}}}}}};
  EXPECT_EQ(codec_of(plan, "weight", {.step = 499, .epoch = 1000}), "fp32");
  EXPECT_EQ(codec_of(plan, "weight", {.step = 500, .epoch = 0}), "dynamic8");
}

}  // namespace
}  // namespace narrowcast::test
