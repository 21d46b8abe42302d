#include <fmt/core.h>

#include <cmath>
#include <memory>

#include "base/error.hpp"
#include "base/json.hpp"
#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "cli/prediction.hpp"
#include "cli/table.hpp"
#include "cli/verdict.hpp"

namespace narrowcast::cli {
namespace {

struct AdviseWords {
  std::string net = "mnist-mlp";
  std::string profile = "ethernet-10g";
  std::string codecs;
  std::string output;
  int batch = 0;
  int workers = 2;
  double max_error = std::numeric_limits<double>::infinity();
  bool json = false;
};

JsonValue number(double value) {
  return std::isfinite(value) ? JsonValue(value) : JsonValue(nullptr);
}

void print_json(const Wish& wish, const Advice& advice, const Console& console) {
  std::vector<JsonValue> kept(advice.kept.begin(), advice.kept.end());
  console.out << json_line(
      {{"network", wish.model},
       {"workers", wish.workers},
       {"verdict", advice.verdict == Verdict::compress ? "compress" : "do not compress"},
       {"codec", advice.best.codec},
       {"algorithm", advice.best.plan.algorithm},
       {"fusion_bytes", advice.best.plan.fusion_bytes},
       {"step_ms", advice.best.forecast.step},
       {"fp32_step_ms", advice.plain.forecast.step},
       {"narrow", advice.narrow.codec},
       {"gain", advice.gain.times},
       {"gain_low", advice.gain.low},
       {"gain_high", advice.gain.high},
       {"dominant", advice.dominant},
       {"flips_at_bytes_per_s", number(advice.flips_at)},
       {"fp32_tensors", json_array(kept)}});
}

void run(const AdviseWords& words, const Console& console) {
  require(words.max_error > 0, Fault::usage, "--max-error takes a number above 0, such as 0.05");
  require(words.batch >= 0, Fault::usage, "--batch takes a whole number above 0");
  const Profile profile = find_profile(words.profile);
  Wish wish{.model = words.net,
            .batch = words.batch,
            .workers = words.workers,
            .max_error = words.max_error};
  if (!words.codecs.empty()) wish.codecs = list_of(words.codecs);
  const Advice advice = advise(profile, wish);
  if (words.json)
    print_json(wish, advice, console);
  else
    console.out << verdict_text(advice, wish, profile);
  if (words.output.empty()) return;
  const std::string toml = to_toml(advice.best.plan);
  write_bytes(words.output, std::as_bytes(std::span(toml)), console);
}

}  // namespace

Action declare_advise(Arguments& arguments) {
  auto words = std::make_shared<AdviseWords>();
  arguments.option("--net NAME", words->net,
                   "A network of the profile or of our tables [mnist-mlp]; a wrong one lists them");
  arguments.option("--profile P", words->profile,
                   "A file of 'narrowcast calibrate', or a shipped profile [ethernet-10g]; a wrong "
                   "one lists them");
  arguments.option("--workers N", words->workers, "[2]");
  arguments.option("--batch N", words->batch,
                   "Examples of one worker and step [as measured, or 32]");
  arguments.option("--codec SPECS", words->codecs,
                   "To choose from, with commas between [those of the profile]");
  arguments.option(
      "--max-error E", words->max_error,
      "The most that rounding may change a gradient by: root mean square, as a part [any]");
  arguments.option("-o,--output FILE", words->output,
                   "Write the plan there, for 'narrowcast train --plan'");
  arguments.flag("--json", words->json, "Print a line of JSON");
  return [words](const Console& console) { run(*words, console); };
}

}  // namespace narrowcast::cli
