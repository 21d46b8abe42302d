#include "predict/calibrate.hpp"

#include <fmt/format.h>

#include <memory>
#include <set>

#include "base/error.hpp"
#include "base/version.hpp"
#include "cli/arguments.hpp"
#include "cli/calibration.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "cli/prediction.hpp"
#include "cli/ranks.hpp"
#include "codec/codec.hpp"

namespace narrowcast::cli {
namespace {

constexpr double kLongest = 60;  // for each part

struct CalibrateWords {
  RankWords ranks;
  std::vector<std::string> nets;
  std::string codecs;
  std::string name;
  std::string output;
  int batch = 0;
  double seconds = 4;
};

void tell(const Profile& profile, int workers, const Console& console) {
  const auto link = [&](std::string_view name, const LinkProfile& found) {
    console.err << fmt::format("{}: {:.0f} us, {}, {:.2f} ns of CPU a byte\n", name,
                               found.latency_us, rate_text(found.bandwidth), found.cpu_ns_per_byte);
  };
  console.err << fmt::format("{:.2g} cores a worker\n", profile.cores);
  if (profile.machine_workers > 1) link("within a machine", profile.machine);
  if (workers > profile.machine_workers) link("across machines", profile.network);
  for (const MeasuredModel& model : profile.models)
    console.err << fmt::format("{}, batch {}: {:.2f} ms forward, {:.2f} backward, {:.2f} after\n",
                               model.name, model.batch, model.forward_ms, model.backward_ms,
                               model.rest_ms);
}

// A profile that has one twice could be read by nobody: found out before minutes of measuring.
void require_each_once(const std::vector<std::string>& names, std::string_view option) {
  std::set<std::string> seen;
  for (const std::string& name : names)
    if (!seen.insert(name).second)
      throw Error(Fault::usage, fmt::format("{} has '{}' twice", option, name));
}

std::vector<std::string> codecs_of(const CalibrateWords& words) {
  if (words.codecs.empty()) return {};
  std::vector<std::string> codecs = list_of(words.codecs);
  std::vector<std::string> canonical;
  for (const std::string& codec : codecs) canonical.push_back(make_codec(codec)->spec());
  require_each_once(canonical, "--codec");
  return codecs;
}

Run run_for(const std::string& net, int batch) {
  std::vector<Setting> settings = {{.key = "net", .value = net, .origin = "--net"}};
  if (batch > 0)
    settings.push_back({.key = "batch", .value = std::to_string(batch), .origin = "--batch"});
  return resolve_run(settings);
}

void run(const CalibrateWords& words, const Console& console) {
  if (!(words.seconds > 0 && words.seconds <= kLongest))
    throw Error(Fault::usage, fmt::format("--seconds takes up to {:.0f}", kLongest));
  require(words.batch >= 0, Fault::usage, "--batch takes a whole number above 0");
  if (!words.output.empty()) require_sink(words.output, console);
  const std::vector<std::string> codecs = codecs_of(words);
  require_each_once(words.nets, "--net");
  std::vector<Run> runs;
  for (const std::string& net : words.nets) runs.push_back(run_for(net, words.batch));
  const Ranks ranks(words.ranks);
  require(ranks.size() >= 2, Fault::usage,
          "calibrate measures between workers: --workers 2 or more");
  const std::vector<Term> terms = {{"codecs", words.codecs},
                                   {"networks", fmt::format("{}", fmt::join(words.nets, ","))},
                                   {"batch", std::to_string(words.batch)},
                                   {"seconds", fmt::format("{}", words.seconds)}};
  ranks.run(console, terms, [&](const Rank& rank) {
    Profile profile = calibrate_all(rank.net, {.runs = runs,
                                               .codecs = codecs,
                                               .machine_workers = ranks.local_size(),
                                               .process_ranks = ranks.process_ranks(),
                                               .seconds = words.seconds});
    if (!rank.speaks()) return;
    profile.name = words.name.empty()
                       ? fmt::format("{} workers over {}", ranks.size(), ranks.transport())
                       : words.name;
    profile.source = fmt::format("narrowcast calibrate {}, {} workers over {}{}", version(),
                                 ranks.size(), ranks.transport(),
                                 ranks.is_shaped() ? ", shaped to " + ranks.shape_text() : "");
    tell(profile, ranks.size(), rank.console);
    const std::string toml = to_toml(profile);
    if (words.output.empty() || words.output == "-")
      rank.console.out << toml;
    else
      write_bytes(words.output, std::as_bytes(std::span(toml)), rank.console);
  });
}

}  // namespace

Action declare_calibrate(Arguments& arguments) {
  auto words = std::make_shared<CalibrateWords>();
  arguments.option("--net NAME", words->nets,
                   "Measure what that network computes, too; 'narrowcast nets' lists them");
  arguments.option("--batch N", words->batch, "Images of one worker and step [the recipe]");
  arguments.option("--codec SPECS", words->codecs, "Codecs, with commas between [the usual ones]");
  arguments.option("-o,--output FILE", words->output, "Write the profile there [standard output]");
  arguments.option("--name TEXT", words->name, "Of the profile");
  arguments.option("--seconds S", words->seconds,
                   "For the links, for the codecs and for each network [4]");
  declare_ranks(arguments, words->ranks);
  return [words](const Console& console) { run(*words, console); };
}

}  // namespace narrowcast::cli
