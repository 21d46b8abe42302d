#include "plan/printable.hpp"

#include <gtest/gtest.h>

namespace narrowcast::test {
namespace {

TEST(Printable, IsWhatATerminalShowsAsItIs) {
  for (const char* text : {"", "dynamic8, 2 workers", "größer → 8 Bit", "日本"}) {
    EXPECT_TRUE(is_printable(text)) << text;
    EXPECT_EQ(text, printable(text));
  }
}

TEST(Printable, HasNothingThatMovesOrTurnsAnything) {
  EXPECT_EQ("a?[31mb", printable("a\x1b[31mb"));
  EXPECT_EQ("a?b?", printable("a\nb\x7f"));
  EXPECT_EQ("?31m", printable("\u009b31m"));
  EXPECT_EQ("?a?b?c?d?", printable("\u061c"
                                   "a\u200f"
                                   "b\u202e"
                                   "c\u2066"
                                   "d\u2028"));
  EXPECT_EQ("bad ? byte ??", printable("bad \xff byte \xc3\xa9"));
  EXPECT_FALSE(is_printable("\u202e"));
}

}  // namespace
}  // namespace narrowcast::test
