#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/error.hpp"
#include "plan/toml.hpp"
#include "tests/plan/any_plan.hpp"
#include "tests/support/any_text.hpp"

// Whatever a file has in it, the answer is a plan or an Error of one line.
namespace narrowcast::test {
namespace {

void answer(const std::string& text) { answered(parse_plan, text); }

RC_GTEST_PROP(EveryPlan, ComesBackFromItsText, ()) {
  const Plan plan = *any_plan();
  RC_ASSERT(parse_plan(to_toml(plan), "plan") == plan);
}

// The parser takes the stack for every dot of a key, and there is an end to it.
TEST(AnyBytes, ThatNestDeeplyAreRefused) {
  std::string key = "a";
  for (int i = 0; i < 300'000; ++i) key += i % 2 == 0 ? ".a" : " . 'b'";
  for (const std::string& text : {key + " = 1", "\n\n[" + key + "]", "x = { " + key + " = 1 }",
                                  "x = [{ " + key + " = 1 }]"}) {
    try {
      parse_toml(text, "deep.toml");
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(Fault::usage, error.fault());
      EXPECT_EQ("deep.toml:" + std::string(text.starts_with('\n') ? "3" : "1") +
                    ": tables are nested too deeply",
                std::string(error.what()));
    }
  }
}

TEST(AnyBytes, MayHaveManyDotsElsewhere) {
  const std::string dots(1000, '.');
  std::string numbers;
  for (int i = 0; i < 1000; ++i) numbers += "1.5, ";
  const TomlTree tree =
      parse_toml("a = \"" + dots + "\\\"" + dots + "\" # " + dots + "\nb = '" + dots + "'\nc = [" +
                     numbers + "]\nd = \"\"\"\n" + dots + "\n\"\"\"\n",
                 "dots.toml");
  EXPECT_EQ(4u, tree.keys.size());
}

RC_GTEST_PROP(AnyBytes, AreAnswered, ()) { answer(*rc::gen::arbitrary<std::string>()); }

RC_GTEST_PROP(AnyBytes, OfTomlsOwnLettersAreAnswered, ()) {
  answer(*rc::gen::container<std::string>(
      rc::gen::elementOf(std::string("[]{}=,.\"'#\n ruleco0123456789-+e_:"))));
}

RC_GTEST_PROP(AnyBytes, InAPlanAreAnswered, ()) { answer(damaged(to_toml(*any_plan()))); }

TEST(AnyBytes, NestedDeeplyAreAnswered) {
  const std::string deep(100'000, '[');
  for (const std::string& text : {"rule = " + deep, deep, "a" + std::string(100'000, '.') + "b = 1",
                                  "rule = " + std::string(100'000, '{')})
    EXPECT_THROW(parse_plan(text, "any"), Error);
  EXPECT_THROW(parse_toml_value(deep, "any"), Error);
}

TEST(AValueAsText, IsPlainOrAsTomlHasIt) {
  EXPECT_EQ(parse_toml_value("dynamic8", "x").text, "dynamic8");
  const TomlTree list = parse_toml_value("[{ a = 1 }, 'b']", "x");
  ASSERT_EQ(list.kind, TomlKind::array);
  EXPECT_EQ(list.items.at(0).items.at(0).text, "1");
  EXPECT_EQ(to_toml(list), R"([{ "a" = "1" }, "b"])");
  EXPECT_THROW(parse_toml_value("[1", "x"), Error);
  EXPECT_THROW(parse_toml_value("[1]\nb = 2", "x"), Error);
}

}  // namespace
}  // namespace narrowcast::test
