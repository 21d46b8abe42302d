#include "base/json.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace narrowcast::test {
namespace {

void expect_refusal(std::string_view text, std::string_view why) {
  try {
    parse_json(text);
    ADD_FAILURE() << text;
  } catch (const Error& error) {
    EXPECT_EQ(Fault::wire, error.fault());
    EXPECT_NE(std::string_view::npos, std::string_view(error.what()).find(why)) << error.what();
  }
}

TEST(Json, ReadsWhatItPrints) {
  const std::string text = json_line({{"b", json_array({1, -2.5, true, nullptr})},
                                      {"a", json_object({{"text", "\"\n\xc3\xbc"}})}});
  const JsonTree tree = parse_json(text);
  ASSERT_EQ((std::vector<std::string>{"b", "a"}), tree.keys);
  const JsonTree* b = tree.find("b");
  ASSERT_NE(nullptr, b);
  ASSERT_EQ(4u, b->items.size());
  EXPECT_EQ(JsonKind::whole, b->items[0].kind);
  EXPECT_EQ(1, b->items[0].whole);
  EXPECT_EQ(-2.5, b->items[1].number);
  EXPECT_TRUE(b->items[2].boolean);
  EXPECT_EQ(JsonKind::null, b->items[3].kind);
  EXPECT_EQ("\"\n\xc3\xbc", tree.find("a")->find("text")->text);
  EXPECT_EQ(nullptr, tree.find("c"));
}

TEST(Json, RefusesWhatIsNone) {
  for (const char* text : {"", "{", "{\"a\":}", "[1,]", "nul", "{} {}", "\"\xff\""})
    expect_refusal(text, "not JSON");
}

TEST(Json, RefusesAKeyThatIsThereTwice) {
  expect_refusal(R"({"a":1,"b":2,"a":3})", "\"a\" twice");
  expect_refusal(R"([{"x":{"a":1,"a":1}}])", "\"a\" twice");
  EXPECT_EQ(2u, parse_json(R"({"a":{"a":1},"b":{"a":[{"a":1},{"a":1}]}})").items.size());
}

TEST(Json, RefusesToNestDeeply) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_EQ(JsonKind::array, parse_json(nested(kDeepestJson)).kind);
  expect_refusal(nested(kDeepestJson + 2), "too deeply");
  expect_refusal(std::string(1'000'000, '['), "too deeply");
}

TEST(Json, HoldsTextInUtf8Only) {
  EXPECT_THROW(JsonValue("\xff"), Error);
  EXPECT_EQ("\"\xc3\xbc\"", JsonValue("\xc3\xbc").text());
}

}  // namespace
}  // namespace narrowcast::test
