#include "cli/bench_collective_job.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.hpp"
#include "bench/machine.hpp"
#include "cli/arguments.hpp"
#include "plan/counts.hpp"

namespace narrowcast::cli {
namespace {

using bench::Collective;

constexpr std::string_view kEngine = "engine";
constexpr std::string_view kUsualCodec = "dynamic8";
constexpr std::string_view kUsualAlgorithm = "direct";
constexpr std::string_view kTransferYardstick = "fp32";
constexpr int kMostThreads = 1024;
constexpr int kMostIterations = 1000000;

template <typename... Parts>
[[noreturn]] void refuse(fmt::format_string<Parts...> text, Parts&&... parts) {
  throw Error(Fault::usage, fmt::format(text, std::forward<Parts>(parts)...));
}

template <typename T>
struct Choice {
  std::string_view name;
  T value;
};
constexpr Choice<Sum> kSums[] = {
    {"fp32", Sum::fp32}, {"format", Sum::format}, {"kahan", Sum::kahan}};
constexpr Choice<Self> kSelves[] = {{"encoded", Self::encoded}, {"exact", Self::exact}};

template <typename T, std::size_t kCount>
T chosen(const Choice<T> (&choices)[kCount], std::string_view option, const std::string& word) {
  std::string names;
  for (const Choice<T>& choice : choices) {
    if (choice.name == word) return choice.value;
    names.append(names.empty() ? "" : ", ").append(choice.name);
  }
  refuse("{} takes {}, not '{}'", option, names, word);
}

template <typename T, std::size_t kCount>
std::string_view name_in(const Choice<T> (&choices)[kCount], T value) {
  return std::ranges::find(choices, value, &Choice<T>::value)->name;
}

void require_range(std::string_view option, int value, int least, int most) {
  if (value < least || value > most) refuse("{} takes {} to {}", option, least, most);
}

// A matrix of the transfer has as many rows as columns.
std::size_t count_of(Collective collective, std::size_t bytes) {
  const std::size_t values = bytes / sizeof(float);
  if (collective != Collective::transfer) return values;
  const auto side = static_cast<std::size_t>(std::sqrt(static_cast<double>(values)));
  return side * side;
}

std::vector<std::size_t> counts_of(const CollectiveWords& words) {
  const std::size_t most = parse_count(words.most);
  std::size_t bytes = parse_count(words.least);
  if (bytes < sizeof(float) || bytes > most)
    refuse("-b to -e goes from 4 bytes up, not from {} to {}", words.least, words.most);
  if (bytes < most) require_range("-f", words.factor, 2, 1 << 20);
  std::vector<std::size_t> counts;
  for (;;) {
    counts.push_back(count_of(words.collective, bytes));
    if (bytes > most / static_cast<std::size_t>(std::max(words.factor, 1)) || bytes == most)
      return counts;
    bytes *= static_cast<std::size_t>(words.factor);
  }
}

std::vector<Subject> subjects_of(const CollectiveWords& words, const Ranks& ranks) {
  std::vector<Subject> subjects;
  std::vector<std::string> names = words.codecs;
  if (names.empty()) names.emplace_back(kUsualCodec);
  const bool transfers = words.collective == Collective::transfer;
  if (transfers && std::ranges::find(names, kTransferYardstick) == names.end())
    names.insert(names.begin(), std::string(kTransferYardstick));
  for (const std::string& name : names) {
    if (name != kEngine) {
      subjects.push_back({name, make_codec(name)});
      continue;
    }
    if (ranks.transport() != "gloo" && ranks.transport() != "mpi")
      refuse("{} has no all-reduce of its own: --codec engine goes with gloo or mpi",
             ranks.transport());
    if (ranks.is_shaped() || ranks.is_keyed())
      refuse("the engine's own all-reduce goes past {}, so it cannot stand beside codecs there",
             ranks.is_shaped() ? "--shape" : "the job key");
    subjects.push_back({name, nullptr});
  }
  return subjects;
}

std::string algorithm_of(const CollectiveWords& words) {
  return words.algorithm.value_or(std::string(kUsualAlgorithm));
}

int group_of(const CollectiveWords& words, const Ranks& ranks) {
  require_range("--group", words.group, 0, 1 << 20);
  // Who starts the ranks knows how many there will be on a machine; a rank knows of its own only.
  const bool known = words.group != 0 || ranks.starts_them();
  const std::string algorithm = algorithm_of(words);
  if (words.group != 0 && algorithm != "hierarchy" && algorithm != "auto")
    refuse("--group is for --algorithm hierarchy or auto; {} has no groups", algorithm);
  if (algorithm == "hierarchy" && known)
    require_groups(words.group == 0 ? ranks.local_size() : words.group, ranks.size());
  return words.group;
}

Reduction reduction_of(const CollectiveWords& words, const Ranks& ranks) {
  Reduction how;
  how.travel.seed = parse_number(words.seed, "a seed: digits alone");
  if (words.chunk) how.travel.chunk = parse_count(*words.chunk);
  if (words.sum) how.sum = chosen(kSums, "--sum", *words.sum);
  if (words.self) how.self = chosen(kSelves, "--self", *words.self);
  how.result = words.average ? Result::average : Result::sum;
  how.group = group_of(words, ranks);
  return how;
}

// What the engine adds, and how, is its own business.
void require_codecs_for(const CollectiveWords& words, const std::vector<Subject>& subjects) {
  const auto is_engine = [](const Subject& each) { return each.codec == nullptr; };
  if (words.average && std::ranges::any_of(subjects, is_engine))
    refuse("engines give sums: --average does not go with --codec engine");
  if (!std::ranges::all_of(subjects, is_engine)) return;
  const std::pair<std::string_view, bool> given[] = {{"--sum", words.sum.has_value()},
                                                     {"--self", words.self.has_value()},
                                                     {"--algorithm", words.algorithm.has_value()},
                                                     {"--residuals", words.residuals},
                                                     {"--chunk", words.chunk.has_value()}};
  for (const auto& [option, is_given] : given)
    if (is_given) refuse("{} does nothing with --codec engine alone", option);
}

void declare_reduction(Arguments& arguments, CollectiveWords& words) {
  std::string names;
  for (const AllReduceRow& row : all_reduces()) names.append(row.name).append(", ");
  arguments.option("--algorithm NAME", words.algorithm,
                   names + "or auto: chosen by pings and declared traffic [direct]");
  arguments.option("--group N", words.group,
                   "Hierarchy: neighbouring ranks that share a machine [what the launcher says]");
  arguments.option("--sum HOW", words.sum,
                   "fp32, or rounded to the codec's format: format, kahan [fp32]");
  arguments.option("--self HOW", words.self,
                   "A rank's own share, encoded like the others' or exact [encoded]");
  arguments.flag("--average", words.average, "Divide the sum by the number of ranks");
}

}  // namespace

void declare_collective(Arguments& arguments, CollectiveWords& words) {
  const bool reduces = words.collective == Collective::all_reduce;
  arguments.option("--codec SPEC", words.codecs,
                   reduces ? "May be repeated; 'engine' is the transport's own fp32 [dynamic8]"
                           : "May be repeated [dynamic8]");
  declare_ranks(arguments, words.ranks);
  arguments.option("-b,--minbytes SIZE", words.least,
                   "Smallest size in bytes of float32: K, M, G count in 1024 [1K]");
  arguments.option("-e,--maxbytes SIZE", words.most, "Largest size [64M]");
  arguments.option("-f,--stepfactor N", words.factor, "From one size to the next [4]");
  arguments.option("-n,--iters N", words.iterations, "Iterations that are measured [20]");
  arguments.option("-w,--warmup_iters N", words.warm_up, "Iterations before that [5]");
  if (reduces) declare_reduction(arguments, words);
  arguments.option("--chunk VALUES", words.chunk, "Most values in one message [256K]");
  arguments.option("--threads N", words.threads, "Threads of each rank that encode [1]");
  arguments.flag("--residuals", words.residuals,
                 "Error feedback, at senders and where it can be at owners; starts at zero each "
                 "time");
  arguments.option("--seed N", words.seed, "Of values and dice [1]");
  arguments.flag("--json", words.json, "JSON Lines, one object for each codec and size");
}

bool CollectiveJob::has_engine() const {
  return std::ranges::any_of(subjects, [](const Subject& each) { return each.codec == nullptr; });
}

bool CollectiveJob::has_groups() const {
  return collective == Collective::all_reduce &&
         (algorithm == nullptr || algorithm->name == "hierarchy");
}

std::string_view CollectiveJob::sum_name() const { return name_in(kSums, how.sum); }
std::string_view CollectiveJob::self_name() const { return name_in(kSelves, how.self); }

void require_groups(int group, int ranks) {
  if (ranks < 3) refuse("a hierarchy needs 3 ranks at least, and there are {}", ranks);
  if (group <= 1 || group >= ranks)
    refuse("a hierarchy of {} ranks needs --group from 2 to {}; with {} it would be direct", ranks,
           ranks - 1, group);
}

std::vector<Term> CollectiveJob::terms() const {
  std::string codecs;
  for (const Subject& each : subjects)
    codecs += (codecs.empty() ? "" : " ") + (each.codec ? each.codec->spec() : each.name);
  std::string sizes;
  for (const std::size_t count : counts)
    sizes += (sizes.empty() ? "" : " ") + count_text(count * sizeof(float));
  return {{"collective", std::string(bench::name_of(collective))},
          {"codec", codecs},
          {"sizes", sizes},
          {"seed", std::to_string(seed)},
          {"iterations", fmt::format("{} after {}", iterations, warm_up)},
          {"algorithm", std::string(algorithm == nullptr ? "auto" : algorithm->name)},
          {"group", std::to_string(how.group)},
          {"sum", std::string(sum_name())},
          {"self", std::string(self_name())},
          {"average", how.result == Result::average ? "yes" : "no"},
          {"chunk", std::to_string(how.travel.chunk)},
          {"residuals", residuals == bench::Residuals::on ? "on" : "off"}};
}

bench::CollectiveRequest CollectiveJob::request(const Subject& subject, std::size_t count) const {
  const bool reduces = collective == Collective::all_reduce && subject.codec != nullptr;
  return {.collective = collective,
          .algorithm = reduces ? algorithm : nullptr,
          .codec = subject.codec.get(),
          .count = count,
          .how = how,
          .residuals = residuals,
          .warm_up = warm_up,
          .iterations = iterations,
          .inputs = {.seed = seed}};
}

CollectiveJob job_of(const CollectiveWords& words, const Ranks& ranks) {
  require_range("-n", words.iterations, 1, kMostIterations);
  require_range("-w", words.warm_up, 0, kMostIterations);
  require_range("--threads", words.threads, 1, kMostThreads);
  CollectiveJob job{.collective = words.collective,
                    .subjects = subjects_of(words, ranks),
                    .counts = counts_of(words),
                    .algorithm = nullptr,
                    .how = reduction_of(words, ranks),
                    .residuals = words.residuals ? bench::Residuals::on : bench::Residuals::off,
                    .warm_up = words.warm_up,
                    .iterations = words.iterations,
                    .threads = words.threads,
                    .seed = 1,
                    .json = words.json};
  require_codecs_for(words, job.subjects);
  job.seed = job.how.travel.seed;
  const std::string algorithm = algorithm_of(words);
  if (algorithm != "auto") job.algorithm = &all_reduce_row(algorithm);
  for (const Subject& subject : job.subjects) {
    const bench::CollectiveRequest largest = job.request(subject, job.counts.back());
    bench::check(largest, ranks.size());
    bench::require_memory_for_tensors(
        bench::tensors_needed(largest) * static_cast<std::size_t>(ranks.local_size()),
        largest.count);
  }
  return job;
}

}  // namespace narrowcast::cli
