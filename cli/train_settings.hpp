#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/arguments.hpp"
#include "run/run.hpp"
#include "transport/agree.hpp"
#include "transport/environment.hpp"

// From words, environment and file to the run that is meant.
namespace narrowcast::cli {

struct TrainWords {
  std::string config = {};
  std::optional<std::string> net = {};
  std::optional<std::string> data = {};
  std::optional<std::string> codec = {};
  std::optional<std::string> plan = {};
  std::optional<std::string> parallel = {};
  std::optional<std::string> epochs = {};
  std::optional<std::string> steps = {};
  std::optional<std::string> batch = {};
  std::optional<std::string> seed = {};
  std::optional<std::string> setup = {};
  std::optional<std::string> checkpoint = {};
  std::optional<std::string> checkpoint_every = {};
  std::optional<std::string> weights = {};
  bool resume = false;
  bool no_test = false;
  std::vector<std::string> more = {};  // KEY=VALUE

  // --codec auto: which one is found out by measuring, when the ranks are there.
  bool measures() const { return codec == "auto"; }
};

void declare_settings(Arguments& arguments, TrainWords& words);

// Command line over environment (NARROWCAST_TRAIN_<KEY>, NARROWCAST_PLAN_<KEY>) over --config.
Run run_of(const TrainWords& words, const Variables& variables = environment_variable);

// What has to be equal on all ranks: everything but where files are.
std::vector<Term> terms_of(const Run& run);

}  // namespace narrowcast::cli
