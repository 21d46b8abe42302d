#include "base/version.hpp"

#include <gmock/gmock.h>

#include <string>

namespace narrowcast::test {
namespace {

TEST(Version, IsThatOfTheBuild) { EXPECT_EQ(NARROWCAST_VERSION, version()); }

TEST(Version, NamesACommitOrSaysThatItIsUnknown) {
  EXPECT_THAT(std::string(commit()), testing::MatchesRegex("unknown|[0-9a-f]+(-dirty)?"));
}

}  // namespace
}  // namespace narrowcast::test
