#include "plan/values.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

namespace narrowcast::test {
namespace {

TEST(AWholeNumber, IsDigitsAndNothingElse) {
  EXPECT_EQ(whole_of("0"), 0u);
  EXPECT_EQ(whole_of("18446744073709551615"), ~std::uint64_t{0});
  for (const char* text : {"", " 1", "1 ", "+1", "-1", "1.0", "1e3", "0x1", "18446744073709551616"})
    EXPECT_FALSE(whole_of(text)) << text;
}

TEST(ANumber, IsFinite) {
  EXPECT_EQ(real_of("1e-3"), 0.001);
  for (const char* text : {"", "nan", "inf", "-inf", "1e999", "1,5", "1 "})
    EXPECT_FALSE(real_of(text)) << text;
}

RC_GTEST_PROP(ANumber, ComesBackFromItsText, (double value)) {
  RC_PRE(std::isfinite(value));
  RC_ASSERT(real_of(text_of(value)) == value);
}

TEST(AnUnknownName, IsAnsweredWithTheNearestOrAll) {
  constexpr std::array<std::string_view, 3> kNames{"algorithm", "group", "fusion"};
  EXPECT_EQ(instead_of("algorihtm", kNames), "did you mean 'algorithm'?");
  EXPECT_EQ(instead_of("colour", kNames), "there are: algorithm, group, fusion");
  EXPECT_EQ(instead_of("", {}), "there are: ");
}

TEST(Utf8, IsWhatTheStandardAllows) {
  for (const char* text :
       {"", "abc", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xf4\x8f\xbf\xbf"})
    EXPECT_TRUE(is_utf8(text)) << text;
  for (const char* text : {"\xff", "\x80", "\xc3", "\xc3(", "\xc0\x80", "\xe2\x82", "\xed\xa0\x80",
                           "\xe0\x80\x80", "\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80"})
    EXPECT_FALSE(is_utf8(text)) << text;
}

}  // namespace
}  // namespace narrowcast::test
