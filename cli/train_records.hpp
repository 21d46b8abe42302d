#pragma once

#include <string>

#include "cli/ranks.hpp"
#include "run/run.hpp"

// The JSON Lines that a training run leaves: docs/run.md.
namespace narrowcast::cli {

struct TrainScene {
  int workers = 1;
  std::string transport;
  std::string sealing;
  std::string shape;  // of the link, when it is slowed down
};

std::string config_line(const Run& run, const TrainScene& scene, const Started& started);
std::string step_line(const StepRecord& record);
std::string epoch_line(const EpochRecord& record);
std::string fault_line(int restart, const std::string& why);
std::string summary_line(const Summary& summary);

std::string hash_text(std::uint64_t hash);

}  // namespace narrowcast::cli
