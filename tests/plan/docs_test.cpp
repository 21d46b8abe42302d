#include <gtest/gtest.h>

#include <filesystem>

#include "plan/plan.hpp"
#include "plan/toml.hpp"
#include "tests/support/places.hpp"

namespace narrowcast::test {
namespace {

std::string page() {
  const auto root = source_folder();
  return read_text(root / "docs" / "plan.md");
}

// The plans of the page, each with the heading before it.
struct Example {
  std::string heading;
  std::string toml;
};

std::vector<Example> examples() {
  const std::string text = page();
  const std::string open = "```toml\n";
  std::vector<Example> found;
  for (std::size_t at = text.find(open); at != std::string::npos; at = text.find(open, at)) {
    const std::size_t begin = at + open.size();
    const std::size_t heading = text.rfind("\n## ", at) + 4;
    at = text.find("```", begin);
    found.push_back(
        {text.substr(heading, text.find('\n', heading) - heading), text.substr(begin, at - begin)});
  }
  return found;
}

Plan example(std::string_view heading) {
  for (const Example& each : examples())
    if (each.heading == heading) return parse_plan(each.toml, "docs/plan.md");
  ADD_FAILURE() << "no example under " << heading;
  return {};
}

TEST(ThePageAboutPlans, HasOnlyExamplesThatCanBeRead) {
  ASSERT_GE(examples().size(), 3u);
  for (const Example& each : examples()) {
    SCOPED_TRACE(each.toml);
    const Plan plan = parse_plan(each.toml, "docs/plan.md");
    EXPECT_EQ(parse_plan(to_toml(plan), "again"), plan);
  }
}

TEST(ThePageAboutPlans, NamesEveryKey) {
  const std::string text = page();
  for (const std::string_view key : plan_keys())
    EXPECT_NE(text.find("`" + std::string(key) + "`"), std::string::npos) << key;
}

TEST(ThePageAboutPlans, ShowsTheHybridOfA20) {
  const Plan plan = example("Hybrid precision");
  const auto way = [&](const char* tensor, std::uint64_t epoch) {
    return way_of(plan, tensor, 1'000'000, {.step = 0, .epoch = epoch});
  };
  const Way scaled{.codec = "float:e=4,m=3", .scaling = Scaling::aps};
  EXPECT_EQ(way("features.conv1.weight", 29), Way{});
  EXPECT_EQ(way("features.conv1.weight", 30), scaled);
  EXPECT_EQ(way("classifier.fc.weight", 29), Way{});
  EXPECT_EQ(way("classifier.fc.weight", 30), Way{});
}

TEST(ThePageAboutPlans, ShowsAWarmUp) {
  const Plan plan = example("Warm-up");
  EXPECT_EQ(way_of(plan, "a", 1'000'000, {.step = 0, .epoch = 0}).codec, "fp32");
  EXPECT_NE(way_of(plan, "a", 1'000'000, {.step = 1'000'000, .epoch = 100}).codec, "fp32");
}

}  // namespace
}  // namespace narrowcast::test
