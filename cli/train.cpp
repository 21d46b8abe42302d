#include <fmt/core.h>

#include <csignal>
#include <memory>

#include "base/error.hpp"
#include "cli/arguments.hpp"
#include "cli/calibration.hpp"
#include "cli/command.hpp"
#include "cli/ranks.hpp"
#include "cli/train_report.hpp"
#include "cli/train_settings.hpp"
#include "cli/verdict.hpp"
#include "run/trainer.hpp"
#include "transport/module.hpp"

namespace narrowcast::cli {
namespace {

constexpr auto kFarewell = std::chrono::minutes(2);  // to finish a step and write a checkpoint
constexpr int kMostRestarts = 1000;

volatile std::sig_atomic_t stop_asked = 0;

// While it lives, SIGINT and SIGTERM are a wish that the next step hears of.
class StopWish {
 public:
  StopWish() {
    struct sigaction wish = {};
    wish.sa_handler = [](int) { stop_asked = 1; };
    wish.sa_flags = SA_RESTART;
    sigaction(SIGINT, &wish, &interrupt_);
    sigaction(SIGTERM, &wish, &terminate_);
  }
  ~StopWish() {
    sigaction(SIGINT, &interrupt_, nullptr);
    sigaction(SIGTERM, &terminate_, nullptr);
  }
  StopWish(const StopWish&) = delete;
  StopWish& operator=(const StopWish&) = delete;

 private:
  struct sigaction interrupt_ = {};
  struct sigaction terminate_ = {};
};

// For ranks that have nothing to tell.
class Silence final : public Listener {
  void started(const Started&) override {}
  void step(const StepRecord&) override {}
  void epoch(const EpochRecord&) override {}
  void saved(const std::filesystem::path&, std::uint64_t) override {}
  void finished(const Summary&) override {}
};

struct Request {
  TrainWords settings;
  RankWords ranks;
  std::string json;
  int restarts = 0;
};

// The plan may say how to reach the others, unless command line or environment do.
RankWords with_plan(RankWords words, const Plan& plan) {
  if (!words.has_timeout()) words.timeout = std::chrono::duration<double>(plan.deadline).count();
  if (words.key_file.empty() && !environment_variable("NARROWCAST_KEY_FILE"))
    words.key_file = plan.key_file;
  return words;
}

void check(const Request& request, const Run& run, const Ranks& ranks) {
  if (request.restarts < 0 || request.restarts > kMostRestarts)
    throw Error(Fault::usage, fmt::format("--restarts takes 0 to {}", kMostRestarts));
  if (request.settings.measures()) {
    require(run.parallel == Parallel::data, Fault::usage,
            "--codec auto is for --parallel data: narrowcast predict compares the others");
    require(
        !run.resume && request.restarts == 0, Fault::usage,
        "--codec auto may choose otherwise the next time, and a run that goes on needs the same: "
        "write a plan with narrowcast advise, and give that to --plan");
  }
  if (request.restarts == 0) return;
  require(!run.checkpoint.empty(), Fault::usage,
          "--restarts needs --checkpoint DIR, to go on from");
  require(
      ranks.transport() != "inproc" && !ranks.has_launcher(), Fault::usage,
      "--restarts is for worker processes that narrowcast starts: not for --transport inproc, and "
      "under a launcher it is the launcher that starts again, with --resume");
}

// What is quickest here: by a short calibration, from which all ranks draw the same conclusion.
Plan find_plan(const Run& run, const Ranks& ranks, const Rank& rank) {
  constexpr double kSeconds = 2;
  if (rank.speaks())
    rank.console.err << "measuring links, codecs and the network ...\n" << std::flush;
  const Profile profile = calibrate_all(rank.net, {.runs = {run},
                                                   .machine_workers = ranks.local_size(),
                                                   .process_ranks = ranks.process_ranks(),
                                                   .seconds = kSeconds});
  const Wish wish = {
      .model = run.net, .batch = run.batch * run.accumulate, .workers = ranks.size()};
  const Advice advice = advise(profile, wish);
  if (rank.speaks()) rank.console.err << verdict_line(advice) << "\n" << std::flush;
  Plan plan = run.plan;
  plan.rules = advice.best.plan.rules;
  plan.algorithm = advice.best.plan.algorithm;
  plan.group = advice.best.plan.group;
  plan.fusion_bytes = advice.best.plan.fusion_bytes;
  return plan;
}

void train_here(const Request& request, Run run, const Ranks& ranks, const Rank& rank) {
  const bool restarted = environment_variable(kRestartVariable).has_value();
  if (restarted) run.resume = true;
  if (request.settings.measures() && ranks.size() > 1) run.plan = find_plan(run, ranks, rank);
  const StopWish wish;
  const Surroundings::Asked asked = [] { return stop_asked != 0; };
  if (!rank.speaks()) {
    Silence silence;
    return train(run, {rank.net, silence, asked});
  }
  RecordFile records(request.json,
                     run.resume ? RecordFile::Opening::append : RecordFile::Opening::anew,
                     rank.console);
  const TrainScene scene = {.workers = ranks.size(),
                            .transport = ranks.transport(),
                            .sealing = std::string(ranks.sealing()),
                            .shape = ranks.shape_text()};
  TrainReport report(run, scene, rank.console, records);
  train(run, {rank.net, report, asked});
}

void run_training(const Request& request, const Console& console) {
  const Run run = run_of(request.settings);
  const Ranks ranks(with_plan(request.ranks, run.plan));
  check(request, run, ranks);
  require_trainer();
  Care care = {.restarts = request.restarts, .farewell = kFarewell};
  care.on_death = [&](int restart, const std::string& why) {
    RecordFile records(request.json, RecordFile::Opening::append, console);
    records.write(fault_line(restart, why));
    console.err << fmt::format("narrowcast: {}; restart {} of {}\n", why, restart, request.restarts)
                << std::flush;
  };
  std::vector<Term> terms = terms_of(run);
  if (request.settings.measures()) terms.push_back({"codec", "auto"});
  ranks.run(
      console, terms, [&](const Rank& rank) { train_here(request, run, ranks, rank); }, care);
}

}  // namespace

Action declare_train(Arguments& arguments) {
  auto request = std::make_shared<Request>();
  declare_settings(arguments, request->settings);
  declare_ranks(arguments, request->ranks);
  arguments.option(
      "--restarts N", request->restarts,
      "Start all workers again from the last good checkpoint, so often, when one dies");
  arguments.option("--json FILE", request->json, "JSON Lines of the run; - is standard output");
  return [request](const Console& console) { run_training(*request, console); };
}

}  // namespace narrowcast::cli
