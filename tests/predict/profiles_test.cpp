#include <fmt/core.h>
#include <gmock/gmock.h>

#include <fstream>
#include <set>

#include "plan/toml.hpp"
#include "predict/parts/profile_keys.hpp"
#include "predict/profile.hpp"
#include "tests/support/fault_text.hpp"
#include "tests/support/places.hpp"
#include "tests/support/temporary_folder.hpp"

namespace narrowcast::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

Profile parsed(std::string_view toml) { return parse_profile(toml, "p.toml"); }

constexpr std::string_view kText = R"(
  name = "lab"
  [network]
  latency_us = 50
  bandwidth = "1gbit"
  [[codec]]
  codec = "dynamic8"
  encode_ns = 0.5
  decode_ns = 0.25
  add_ns = 0.375
  [[codec]]
  codec = "*"
  encode_ns = 1
  decode_ns = 2
  add_ns = 3
)";

TEST(EveryShippedProfile, IsReadAndComesBackFromItsText) {
  ASSERT_EQ(profiles().size(), 11u);
  std::set<std::string_view> names;
  for (const ProfileRow& row : profiles()) {
    SCOPED_TRACE(row.name);
    const Profile profile = find_profile(std::string(row.name));
    EXPECT_EQ(profile.name, row.name);
    EXPECT_EQ(parsed(to_toml(profile)), profile);
    EXPECT_TRUE(names.insert(row.name).second);
  }
}

TEST(EveryShippedProfile, NamesItsSourceAndCanPredictAnyNetworkWithAnyCodec) {
  for (const ProfileRow& row : profiles()) {
    SCOPED_TRACE(row.name);
    const Profile profile = find_profile(std::string(row.name));
    EXPECT_GT(profile.source.size(), 50u);
    EXPECT_THAT(profile.source, HasSubstr("assumed"));
    EXPECT_EQ(profile.source.find('\n'), std::string::npos);
    EXPECT_GT(profile.compute.flops, 1e11);
    EXPECT_GT(speed_of(profile, "dynamic8").encode_ns, 0);
    EXPECT_EQ(speed_of(profile, "fp32").encode_ns, 0);
  }
}

TEST(AProfileByName, MayBeAFile) {
  const TemporaryFolder folder;
  std::ofstream(folder / "mine.toml") << kText;
  EXPECT_EQ(find_profile(folder / "mine.toml"), parsed(kText));
  std::ofstream(folder / "bad.toml") << "name = 'x'\n[network]\nlatency_us = -1";
  EXPECT_THAT(fault_text([&] { find_profile(folder / "bad.toml"); }),
              HasSubstr("bad.toml:3: latency_us"));
}

TEST(AProfileByName, ThatIsNeitherIsToldTheNames) {
  const std::string text = fault_text([] { find_profile("dgx1"); });
  EXPECT_THAT(text, StartsWith("usage: profile 'dgx1': is no file and does not come along"));
  for (const ProfileRow& row : profiles()) EXPECT_THAT(text, HasSubstr(std::string(row.name)));
  const TemporaryFolder folder;
  EXPECT_THAT(fault_text([&] { find_profile(folder.path()); }), StartsWith("system: cannot read"));
}

TEST(TheSpeedOfACodec, IsThatOfItsSpecOrOfAllOthers) {
  const Profile profile = parsed(kText);
  EXPECT_EQ(speed_of(profile, "dynamic8").encode_ns, 0.5);
  EXPECT_EQ(speed_of(profile, canonical_codec("dynamic8")).encode_ns, 0.5);
  EXPECT_EQ(speed_of(profile, "dynamic8:block=64").encode_ns, 1);
  EXPECT_EQ(speed_of(profile, "qsgd:bits=4").encode_ns, 1);
  EXPECT_EQ(speed_of(profile, "onebit:column=shape").encode_ns, 1);
}

TEST(TheSpeedOfACodec, ThatNobodyKnowsIsAUsageFault) {
  Profile profile = parsed(kText);
  EXPECT_THAT(fault_text([&] { speed_of(profile, "dynamik8"); }), StartsWith("usage: "));
  EXPECT_THAT(fault_text([&] { speed_of(profile, "*"); }), StartsWith("usage: "));
  profile.codecs.pop_back();
  EXPECT_EQ(
      fault_text([&] { speed_of(profile, "qsgd:bits=4"); }),
      "usage: profile 'lab': has no speed of codec 'qsgd:bits=4' and none for \"*\"; narrowcast "
      "calibrate -o profile.toml measures the codecs of this machine");
}

std::string page() {
  const auto root = source_folder();
  return read_text(root / "docs" / "prediction.md");
}

TEST(ThePageAboutProfiles, HasAnExampleThatCanBeRead) {
  const std::string text = page();
  const std::string open = "```toml\n";
  const std::size_t begin = text.find(open, text.find("## Profiles"));
  ASSERT_NE(begin, std::string::npos);
  const std::size_t end = text.find("```", begin + open.size());
  EXPECT_EQ(parsed(text.substr(begin + open.size(), end - begin - open.size())).name, "lab");
}

TEST(ThePageAboutProfiles, NamesEveryKeyAndEveryProfile) {
  const std::string text = page();
  const auto expect_named = [&](const auto& keys) {
    for (const auto& key : keys) EXPECT_THAT(text, HasSubstr(fmt::format("\n| `{}` | ", key.name)));
  };
  expect_named(kProfileKeys);
  expect_named(kLinkKeys);
  expect_named(kCodecKeys);
  expect_named(kComputeKeys);
  expect_named(kModelKeys);
  for (const ProfileRow& row : profiles())
    EXPECT_THAT(text, HasSubstr(fmt::format("\n| `{}` | {} |", row.name, row.summary)));
}

}  // namespace
}  // namespace narrowcast::test
