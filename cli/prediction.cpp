#include "cli/prediction.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>

#include "base/error.hpp"

namespace narrowcast::cli {
namespace {

constexpr int kMostWorkers = 1'000'000;

int count_of(std::string_view text, const std::string& whole) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 1 ||
      number > kMostWorkers)
    throw Error(Fault::usage, fmt::format("--workers takes 8, 2,4,6 or 2..1024, up to {}, not '{}'",
                                          kMostWorkers, whole));
  return number;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ',');) parts.push_back(part);
  return parts;
}

Parallel parallel_of(const std::string& name) {
  if (name == "data") return Parallel::data;
  if (name == "model") return Parallel::model;
  if (name == "hybrid") return Parallel::hybrid;
  throw Error(Fault::usage, fmt::format("--parallel is data, model or hybrid, not '{}'", name));
}

}  // namespace

void declare_scenario(Arguments& arguments, ScenarioWords& words) {
  arguments.option("--parallel HOW", words.parallel, "data, model or hybrid [data]");
  arguments.option("--algorithm NAME", words.algorithm,
                   "direct, ring, hierarchy, gather or auto [direct]");
  arguments.option("--fusion BYTES", words.fusion, "Of a fused buffer [4MiB]");
  arguments.option("--sub-batches N", words.sub_batches,
                   "Hybrid: transfers of one overlap with the next [1]");
}

Scenario scenario_of(const ScenarioWords& words, const Profile& profile) {
  require(words.sub_batches >= 1, Fault::usage, "--sub-batches takes a whole number from 1");
  return {.work = workload_of(profile, words.net, words.batch),
          .machine_workers = profile.machine_workers,
          .parallel = parallel_of(words.parallel),
          .sub_batches = words.sub_batches};
}

Plan plan_of(const ScenarioWords& words, const std::string& codec) {
  Plan plan = plan_for(usual_way(codec));
  set_key(plan, "algorithm", words.algorithm, "--algorithm");
  if (!words.fusion.empty()) set_key(plan, "fusion", words.fusion, "--fusion");
  plan.activations = plan.errors = {.codec = codec};
  return plan;
}

std::vector<int> counts_of(const std::string& text) {
  std::vector<int> counts;
  const std::size_t dots = text.find("..");
  if (dots != std::string::npos) {
    const int last = count_of(std::string_view(text).substr(dots + 2), text);
    for (int count = count_of(std::string_view(text).substr(0, dots), text); count <= last;
         count *= 2)
      counts.push_back(count);
  } else {
    for (const std::string& part : split(text)) counts.push_back(count_of(part, text));
  }
  if (counts.empty()) throw Error(Fault::usage, fmt::format("'{}' is no number of workers", text));
  return counts;
}

std::vector<int> batches_of(const std::string& text) {
  std::vector<int> batches;
  for (const std::string& part : split(text)) {
    int number = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), number);
    if (error != std::errc() || end != part.data() + part.size() || number < 0 ||
        number > kMostWorkers)
      throw Error(Fault::usage, fmt::format("--batch takes 64 or 16,64, not '{}'", text));
    batches.push_back(number);
  }
  require(!batches.empty(), Fault::usage, "--batch takes one number or more");
  return batches;
}

std::vector<std::string> list_of(const std::string& text) {
  std::vector<std::string> specs;
  for (const std::string& part : split(text)) {
    // "float:e=4,m=3": an option without a codec before it belongs to the one before.
    const bool option = part.find('=') != std::string::npos && part.find(':') == std::string::npos;
    if (option && !specs.empty())
      specs.back() += "," + part;
    else
      specs.push_back(part);
  }
  require(!specs.empty(), Fault::usage, "a list with commas between has at least one word");
  return specs;
}

std::string rate_text(double bytes_a_second) {
  if (bytes_a_second == 0) return "no speed";
  if (std::isinf(bytes_a_second)) return "any speed";
  const double bits = 8 * bytes_a_second;
  return bits < 1e9 ? fmt::format("{:.3g} Mbit/s", bits / 1e6)
                    : fmt::format("{:.3g} Gbit/s", bits / 1e9);
}

}  // namespace narrowcast::cli
