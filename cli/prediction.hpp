#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/arguments.hpp"
#include "predict/forecast.hpp"

// What commands about predictions share.
namespace narrowcast::cli {

struct ScenarioWords {
  std::string net = {};
  int batch = 0;  // 0: as measured
  std::string parallel = "data";
  std::string algorithm = "direct";
  std::string fusion = {};
  int sub_batches = 1;
};
// All but the network and the batch.
void declare_scenario(Arguments& arguments, ScenarioWords& words);

// All but the number of workers and the codec.
Scenario scenario_of(const ScenarioWords& words, const Profile& profile);
Plan plan_of(const ScenarioWords& words, const std::string& codec);

// "8", "2,4,6", or "2..1024", which doubles. Fault::usage for anything else.
std::vector<int> counts_of(const std::string& text);

// "0" is the one that was measured.
std::vector<int> batches_of(const std::string& text);

// Specs with commas between; a comma also separates the options of one spec, which have '='.
std::vector<std::string> list_of(const std::string& text);

// "2.5 Gbit/s", "any speed", "no speed".
std::string rate_text(double bytes_a_second);

}  // namespace narrowcast::cli
