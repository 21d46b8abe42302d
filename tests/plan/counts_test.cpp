#include "plan/counts.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace narrowcast::test {
namespace {

TEST(Count, IsReadInUnitsOf1024) {
  EXPECT_EQ(1u, parse_count("1"));
  EXPECT_EQ(1000u, parse_count("1000"));
  EXPECT_EQ(65536u, parse_count("64K"));
  EXPECT_EQ(26214400u, parse_count("25M"));
  EXPECT_EQ(std::size_t{1} << 30, parse_count("1G"));
}

TEST(Count, IsNothingElse) {
  for (const char* text : {"", "0", "0K", "K", "-1", "+1", "1.5M", "1 K", "1KB", "0x10", " 1",
                           "18446744073709551616", "17179869184G"})
    EXPECT_THROW(parse_count(text), Error) << text;
}

TEST(Count, IsWrittenAsItIsRead) {
  for (const std::size_t count : {1u, 1000u, 1024u, 1536u, 65536u, 26214400u})
    EXPECT_EQ(count, parse_count(count_text(count)));
  EXPECT_EQ("25M", count_text(26214400));
  EXPECT_EQ("0", count_text(0));
}

}  // namespace
}  // namespace narrowcast::test
