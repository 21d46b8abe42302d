// predict: how long a step will take, from a profile. The profile "here" is measured first, over the
// transport and link of the cell, and shared by the cells that need the same one.
#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "base/checksum.hpp"
#include "base/error.hpp"
#include "plan/plan.hpp"
#include "plan/values.hpp"
#include "predict/forecast.hpp"
#include "study/kinds/rows.hpp"
#include "study/kinds/words.hpp"

namespace narrowcast {
namespace {

constexpr std::array kAxes{KindAxis{"net", ""},          KindAxis{"profile", "here"},
                           KindAxis{"parallel", "data"}, KindAxis{"workers", "2"},
                           KindAxis{"transport", "shm"}, KindAxis{"link", "none"},
                           KindAxis{"codec", "fp32"},    KindAxis{"batch", "-"}};
// "images": of an epoch, for its price.
constexpr std::array<std::string_view, 7> kSettings{"images",  "seconds", "algorithm", "fusion",
                                                    kLauncher, kHosts,    "codec"};
constexpr std::array<std::string_view, 16> kKeys{
    "step_ms",   "low_ms",    "high_ms",       "compute_ms",  "encode_ms", "wire_ms",
    "decode_ms", "wait_ms",   "straggling_ms", "slowdown_ms", "overlap",   "wire_bytes",
    "speedup",   "over_fp32", "batch",         "price"};

struct ParallelWord {
  std::string_view word;
  Parallel parallel;
};
constexpr std::array kParallel{ParallelWord{"data", Parallel::data},
                               ParallelWord{"model", Parallel::model},
                               ParallelWord{"hybrid", Parallel::hybrid}};
constexpr std::string_view kSeconds = "4";
constexpr int kMostSeconds = 60;

std::string algorithm_of(const Cell& cell) { return setting_or(cell, "algorithm", "direct"); }
bool is_measured(const Cell& cell) { return cell.at("profile") == "here"; }

// A profile does not say how many workers it was measured with.
void check_told(const Cell& cell) {
  const std::string launcher = setting_or(cell, kLauncher, "");
  if (!launcher.empty() && launcher.find("{workers}") == std::string::npos)
    throw Error(
        Fault::usage,
        fmt::format("the launcher '{}' of a calibration is not told of {{workers}}", launcher));
}

// As 'predict' and 'calibrate' would.
void check_numbers(const Cell& cell) {
  count_at(cell, "workers");
  if (!chosen(cell, "batch").empty()) count_at(cell, "batch");
  const std::string seconds = setting_or(cell, "seconds", kSeconds);
  if (const auto number = real_of(seconds); !number || !(*number > 0 && *number <= kMostSeconds))
    throw Error(Fault::usage, fmt::format("seconds takes numbers above 0 up to {}, not '{}'",
                                          kMostSeconds, seconds));
  if (const std::string images = setting_or(cell, "images", "1"); whole_of(images).value_or(0) == 0)
    throw Error(Fault::usage, fmt::format("images takes whole numbers from 1, not '{}'", images));
}

Parallel parallel_of(const Cell& cell) {
  const auto found = std::ranges::find(kParallel, cell.at("parallel"), &ParallelWord::word);
  if (found == kParallel.end())
    throw Error(Fault::usage,
                fmt::format("parallel is data, model or hybrid, not '{}'", cell.at("parallel")));
  return found->parallel;
}

Plan plan_of(const Cell& cell) {
  const std::string codec = codec_spec(cell);
  Plan plan = plan_for(usual_way(codec));
  set_key(plan, "algorithm", algorithm_of(cell), "algorithm");
  if (const std::string fusion = setting_or(cell, "fusion", ""); !fusion.empty())
    set_key(plan, "fusion", fusion, "fusion");
  plan.activations = plan.errors = {.codec = codec};
  return plan;
}

// In place of a profile that is still to be measured: whether a network can be divided, and a codec be asked how much
// it sends, does not depend on how quick anything is.
Profile stand_in() {
  Profile profile{.name = "here", .codecs = {{.codec = "*"}}, .compute = {.flops = 1}};
  profile.machine.bandwidth = profile.network.bandwidth = 1;
  return profile;
}

void check(const Cell& cell) {
  check_numbers(cell);
  if (is_measured(cell)) {
    check_ranks(cell);
    check_told(cell);
    network_row(cell.at("net"));
  }
  const Profile profile =
      is_measured(cell) ? stand_in() : find_profile(std::string(cell.at("profile")));
  const int batch = chosen(cell, "batch").empty() ? 0 : count_at(cell, "batch");
  // What the cell will do, which takes no longer than a look at all that could be wrong with it.
  forecast({.work = workload_of(profile, cell.at("net"), batch),
            .plan = plan_of(cell),
            .workers = count_at(cell, "workers"),
            .machine_workers = profile.machine_workers,
            .parallel = parallel_of(cell)},
           profile);
}

// Of the calibration that the cell needs: what it is measured with, and nothing else.
std::string profile_file(const Cell& cell, const CellPlace& place) {
  std::string all;
  for (const std::string_view axis : {"net", "workers", "transport", "link", "batch"})
    all += std::string(cell.at(axis)) + '\0';
  all += setting_or(cell, kLauncher, "") + '\0' + setting_or(cell, "seconds", "");
  // Only where there are any, so that calibrations that folders have keep their names.
  if (const std::string hosts = setting_or(cell, kHosts, ""); !hosts.empty()) all += '\0' + hosts;
  return fmt::format("{}/{:016x}.toml", place.profiles, checksum(std::as_bytes(std::span(all))));
}

CellCommand calibration(const Cell& cell, const std::string& file) {
  std::vector<std::string> words = {"calibrate",
                                    "--net",
                                    std::string(cell.at("net")),
                                    "--seconds",
                                    setting_or(cell, "seconds", kSeconds),
                                    "--name",
                                    "here",
                                    "-o",
                                    file};
  if (const std::string_view batch = chosen(cell, "batch"); !batch.empty())
    words.insert(words.end(), {"--batch", std::string(batch)});
  const std::vector<std::string> ranks = rank_words(cell);
  words.insert(words.end(), ranks.begin(), ranks.end());
  return {.words = words, .launcher = launcher_of(cell), .makes = file};
}

std::vector<CellCommand> commands(const Cell& cell, const CellPlace& place) {
  std::vector<CellCommand> all;
  std::string profile(cell.at("profile"));
  if (is_measured(cell)) {
    profile = profile_file(cell, place);
    all.push_back(calibration(cell, profile));
  }
  std::vector<std::string> words = {"predict",
                                    "--net",
                                    std::string(cell.at("net")),
                                    "--profile",
                                    profile,
                                    "--workers",
                                    std::string(cell.at("workers")),
                                    "--parallel",
                                    std::string(cell.at("parallel")),
                                    "--codec",
                                    codec_spec(cell),
                                    "--algorithm",
                                    algorithm_of(cell),
                                    "--json"};
  if (const std::string fusion = setting_or(cell, "fusion", ""); !fusion.empty())
    words.insert(words.end(), {"--fusion", fusion});
  if (const std::string_view batch = chosen(cell, "batch"); !batch.empty())
    words.insert(words.end(), {"--batch", std::string(batch)});
  all.push_back({.words = words});
  return all;
}

void read(const std::string& printed, CellRecord& record) {
  const std::vector<JsonTree> lines = lines_of(printed);
  require(lines.size() == 1, Fault::wire, "it printed more than one prediction");
  number_in(lines.front(), "step_ms");
  take_numbers(lines.front(), kKeys, record);
}

}  // namespace

Kind predict_kind() {
  return {.name = "predict",
          .summary = "predict a step from a profile; \"here\" is measured first",
          .axes = kAxes,
          .settings = kSettings,
          .check = check,
          .commands = commands,
          .read = read};
}

}  // namespace narrowcast
