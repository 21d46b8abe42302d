#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "base/error.hpp"
#include "base/json.hpp"
#include "cli/input.hpp"
#include "cli/nearest.hpp"
#include "cli/table.hpp"

namespace narrowcast::cli::test {
namespace {

TEST(List, IsSplitAtCommas) {
  EXPECT_EQ((std::vector<std::string>{"a", "b c"}), split_list("a,b c"));
  for (const char* text : {"", ",", "a,", ",a", "a,,b"})
    EXPECT_THROW(split_list(text), Error) << text;
}

TEST(Table, LinesUpItsColumns) {
  Table table({{"name", Align::left}, {"n"}, {"note", Align::left}});
  table.add({"a", "1", "x"});
  table.add({"longer", "100", ""});
  EXPECT_EQ(
      "name      n  note\n"
      "a         1  x\n"
      "longer  100\n",
      table.text());
}

TEST(Table, CountsWhatIsSeenOnTheScreen) {
  Table table({{"bar", Align::left}, {"n"}});
  table.add({"\x1b[32m██\x1b[0m", "1"});
  table.add({"xxxx", "2"});
  EXPECT_EQ(
      "bar   n\n"
      "\x1b[32m██\x1b[0m    1\n"
      "xxxx  2\n",
      table.text());
}

TEST(Table, IsMarkdownToo) {
  Table table({{"name", Align::left}, {"n"}});
  table.add({"a|b", "1"});
  EXPECT_EQ("| name | n |\n|---|---:|\n| a\\|b | 1 |\n", table.markdown());
}

TEST(Table, RefusesRowsOfAnotherLength) {
  Table table({{"one"}});
  EXPECT_THROW(table.add({"a", "b"}), Error);
}

TEST(Json, KeepsTheOrderOfItsMembers) {
  EXPECT_EQ("{\"b\":1,\"a\":[true,null,\"x\"],\"c\":{\"d\":[],\"e\":{}}}\n",
            json_line({{"b", 1},
                       {"a", json_array({true, nullptr, "x"})},
                       {"c", json_object({{"d", json_array({})}, {"e", json_object({})}})}}));
}

TEST(Json, WritesNumbersThatReadBackTheSame) {
  EXPECT_EQ("18446744073709551615", JsonValue(std::numeric_limits<std::uint64_t>::max()).text());
  EXPECT_EQ("-9223372036854775808", JsonValue(std::numeric_limits<std::int64_t>::min()).text());
  EXPECT_EQ("1.0", JsonValue(1.0).text());
  EXPECT_EQ("0.1", JsonValue(0.1).text());
  EXPECT_EQ("3.4028234663852886e+38", JsonValue(3.4028234663852886e38).text());
}

TEST(Json, HasNullForWhatIsNotFinite) {
  EXPECT_EQ("null", JsonValue(std::numeric_limits<double>::infinity()).text());
  EXPECT_EQ("null", JsonValue(std::numeric_limits<double>::quiet_NaN()).text());
}

TEST(Json, EscapesText) {
  EXPECT_EQ(R"("a\"b\\c\n\u0001é")", JsonValue("a\"b\\c\n\x01é").text());
  EXPECT_EQ(R"({"a\"b":""})", json_object({{"a\"b", std::string()}}).text());
}

TEST(Advice, NamesTheNearestWord) {
  const std::vector<std::string> known = {"encode", "decode", "inspect"};
  EXPECT_EQ("; did you mean 'encode'? See 'help'", advice("encoed", known, "help"));
  EXPECT_EQ("; did you mean 'decode'? See 'help'", advice("decod", known, "help"));
  EXPECT_EQ("; see 'help'", advice("xyz", known, "help"));
  EXPECT_EQ("; see 'help'", advice("xyz", {}, "help"));
}

}  // namespace
}  // namespace narrowcast::cli::test
