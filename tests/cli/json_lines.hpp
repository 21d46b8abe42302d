#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/run_command.hpp"

namespace narrowcast::cli::test {

// What a command that has to go well prints as JSON Lines.
template <class Json = nlohmann::json>
std::vector<Json> json_of(const std::vector<std::string>& words) {
  const Outcome outcome = run_command(words);
  EXPECT_EQ(0, outcome.code) << outcome.err;
  std::vector<Json> lines;
  for (const std::string& line : lines_of(outcome.out)) lines.push_back(Json::parse(line));
  return lines;
}

}  // namespace narrowcast::cli::test
