#include "cli/train_settings.hpp"

#include <fmt/core.h>

#include <cctype>
#include <map>
#include <sstream>

#include "base/error.hpp"

namespace narrowcast::cli {
namespace {

// "optimiser.rate" is OPTIMISER_RATE.
std::string variable_part(std::string_view key) {
  std::string name;
  for (const char c : key)
    name +=
        c == '.' || c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

void add_environment(std::vector<Setting>& settings, const Variables& variables) {
  for (const std::string_view key : run_keys()) {
    const std::string part = variable_part(key);
    const std::string name =
        part.starts_with("PLAN_") ? "NARROWCAST_" + part : "NARROWCAST_TRAIN_" + part;
    if (const auto value = variables(name))
      settings.push_back({.key = std::string(key), .value = *value, .origin = name});
  }
}

void add_words(std::vector<Setting>& settings, const TrainWords& words) {
  const auto add = [&](std::string_view key, std::string_view option,
                       const std::optional<std::string>& value) {
    if (value)
      settings.push_back({.key = std::string(key), .value = *value, .origin = std::string(option)});
  };
  add("setup", "--setup", words.setup);
  add("net", "--net", words.net);
  add("data", "--data", words.data);
  add("plan", "--plan", words.plan);
  if (!words.measures()) add("codec", "--codec", words.codec);
  add("parallel", "--parallel", words.parallel);
  add("epochs", "--epochs", words.epochs);
  add("steps", "--steps", words.steps);
  add("batch", "--batch", words.batch);
  add("seed", "--seed", words.seed);
  add("checkpoint", "--checkpoint", words.checkpoint);
  add("checkpoint_every", "--checkpoint-every", words.checkpoint_every);
  add("weights", "--weights", words.weights);
  if (words.resume) add("resume", "--resume", "true");
  if (words.no_test) add("test", "--no-test", "false");
  for (const std::string& word : words.more) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0)
      throw Error(Fault::usage, fmt::format("--set takes KEY=VALUE, not '{}'", word));
    add(word.substr(0, equals), "--set", word.substr(equals + 1));
  }
}

}  // namespace

void declare_settings(Arguments& arguments, TrainWords& words) {
  arguments.option("--config FILE", words.config, "Settings in TOML, see docs/run.md");
  arguments.option("--net NAME", words.net,
                   "The network [mnist-mlp]; 'narrowcast nets' lists them");
  arguments.option("--data WHAT", words.data,
                   "A data set's name, a folder or a file of 'narrowcast data pack' "
                   "[fashion-mnist]");
  arguments.option("--codec SPEC", words.codec,
                   "How gradients travel; auto: measures what is quickest here, first [fp32]");
  arguments.option("--plan FILE", words.plan, "Rules by tensor instead, see docs/plan.md");
  arguments.option("--parallel HOW", words.parallel, "data, model or hybrid [data]");
  arguments.option("--epochs E", words.epochs, "[the network's recipe]");
  arguments.option("--steps N", words.steps, "Stop after so many steps in all");
  arguments.option("--batch N", words.batch, "Images of one worker and step [the recipe]");
  arguments.option("--seed S", words.seed, "The same seed gives the same bits [1]");
  arguments.option("--setup NAME", words.setup,
                   "A paper's settings, e.g. d16-literal; 'narrowcast nets' lists them");
  arguments.option("--checkpoint DIR", words.checkpoint, "Keep checkpoints there");
  arguments.option("--checkpoint-every STEPS", words.checkpoint_every, "[every epoch]");
  arguments.flag("--resume", words.resume, "Go on from the last good checkpoint");
  arguments.option("--weights FILE", words.weights, "Write the weights there, as safetensors");
  arguments.flag("--no-test", words.no_test, "Skip the test after each epoch");
  arguments.option("--set KEY=VALUE", words.more,
                   "Any other setting of docs/run.md, e.g. optimiser.rate=0.01");
}

Run run_of(const TrainWords& words, const Variables& variables) {
  std::vector<Setting> settings;
  if (!words.config.empty()) settings = read_settings(words.config);
  add_environment(settings, variables);
  add_words(settings, words);
  return resolve_run(settings);
}

std::vector<Term> terms_of(const Run& run) {
  Run shared = run;
  shared.data_folder.clear();
  shared.checkpoint.clear();
  shared.weights.clear();
  shared.plan.key_file.clear();
  std::vector<Term> terms;
  std::map<std::string, int> seen;
  std::string section;
  std::istringstream lines(to_toml(shared));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('[')) section = line + " ";
    const std::size_t equals = line.find(" = ");
    if (equals == std::string::npos) continue;
    const std::string name = section + line.substr(0, equals);
    const int count = ++seen[name];
    terms.push_back(
        {count == 1 ? name : fmt::format("{} {}", name, count), line.substr(equals + 3)});
  }
  if (!run.checkpoint.empty()) terms.push_back({"checkpoints", "kept"});
  return terms;
}

}  // namespace narrowcast::cli
