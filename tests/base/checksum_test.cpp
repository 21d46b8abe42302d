#include "base/checksum.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace narrowcast::test {
namespace {

std::uint64_t of(std::string_view text, std::uint64_t seed = 0) {
  return checksum(std::as_bytes(std::span(text)), seed);
}

// The value of nothing is in the specification of XXH3.
TEST(Checksum, IsXxh3) { EXPECT_EQ(0x2d06800538d394c2u, of("")); }

TEST(Checksum, DependsOnEveryByteAndOnTheSeed) {
  const std::string text(1000, 'a');
  for (std::size_t i = 0; i < text.size(); i += 37) {
    std::string other = text;
    other[i] = 'b';
    EXPECT_NE(of(text), of(other)) << i;
  }
  EXPECT_NE(of(text), of(text.substr(1)));
  EXPECT_NE(of(text), of(text, 1));
}

}  // namespace
}  // namespace narrowcast::test
