#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "plan/toml.hpp"
#include "run/settings/keys.hpp"
#include "tests/run/scratch.hpp"
#include "tests/support/places.hpp"

namespace narrowcast::test {
namespace {

std::string page() {
  const auto root = source_folder();
  return read_text(root / "docs" / "run.md");
}

TEST(ThePageAboutRuns, HasOnlyExamplesThatCanBeRead) {
  const std::string text = page();
  const std::string open = "```toml\n";
  int count = 0;
  for (std::size_t at = text.find(open); at != std::string::npos; at = text.find(open, at)) {
    const std::size_t begin = at + open.size();
    at = text.find("```", begin);
    const std::string toml = text.substr(begin, at - begin);
    SCOPED_TRACE(toml);
    EXPECT_NO_THROW(run_of(toml));
    ++count;
  }
  EXPECT_GE(count, 2);
}

TEST(ThePageAboutRuns, NamesEveryKey) {
  const std::string text = page();
  for (const RunKey& row : run_key_rows()) {
    const std::string key(row.name.substr(row.name.find('.') + 1));
    EXPECT_NE(text.find("`" + key + "`"), std::string::npos) << row.name;
  }
}

TEST(ThePageAboutRuns, NamesEveryRecipeThatIsOfAPaper) {
  const std::string text = page();
  for (const Recipe& recipe : recipes()) {
    const auto same = [&](const NetworkRow& row) { return row.name == recipe.name; };
    if (std::ranges::any_of(networks(), same)) continue;
    EXPECT_NE(text.find("`" + std::string(recipe.name) + "`"), std::string::npos) << recipe.name;
  }
}

}  // namespace
}  // namespace narrowcast::test
