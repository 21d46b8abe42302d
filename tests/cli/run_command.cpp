#include "tests/cli/run_command.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <sstream>

namespace narrowcast::cli::test {

Outcome run_command(const std::vector<std::string>& words, const std::string& input,
                    const Terminals& terminals) {
  std::istringstream in(input);
  std::ostringstream out;
  std::ostringstream err;
  const int code = run(words, {.in = in, .out = out, .err = err, .terminals = terminals});
  return {code, out.str(), err.str()};
}

void expect_refusal(const Outcome& outcome, int code) {
  EXPECT_EQ(code, outcome.code) << outcome.err;
  EXPECT_EQ("", outcome.out);
  EXPECT_TRUE(outcome.err.starts_with("narrowcast: ")) << outcome.err;
  ASSERT_FALSE(outcome.err.empty());
  EXPECT_EQ(outcome.err.size() - 1, outcome.err.find('\n')) << outcome.err;
}

std::string bytes_of(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

std::vector<float> floats_of(const std::string& bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return values;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace narrowcast::cli::test
