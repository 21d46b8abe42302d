#include <fmt/core.h>

#include <memory>

#include "base/error.hpp"
#include "base/json.hpp"
#include "bench/codec_bench.hpp"
#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/input.hpp"
#include "cli/progress.hpp"
#include "cli/table.hpp"
#include "plan/counts.hpp"

namespace narrowcast::cli {
namespace {

struct BenchWords {
  std::vector<std::string> specs;
  std::string sizes = "64K,1M,25M";
  int threads = 1;
  double min_time = 0.15;
  bool json = false;
};

constexpr int kMostThreads = 1024;

std::string as_json(const bench::CodecTime& time) {
  return json_line({
      {"codec", time.codec},
      {"values", time.values},
      {"threads", time.threads},
      {"target", time.target},
      {"encode_ns", time.encode_ns},
      {"decode_ns", time.decode_ns},
      {"accumulate_ns", time.accumulate_ns},
      {"memcpy_ns", time.memcpy_ns},
      {"bits_per_value", time.bits_per_value},
  });
}

Table empty_table() {
  return Table({{"codec", Align::left},
                {"bits"},
                {"encode ns"},
                {"decode ns"},
                {"add ns"},
                {"memcpy ns"},
                {"encode x"},
                {"decode x"},
                {"add x"}});
}

void add_row(Table& table, const bench::CodecTime& time) {
  table.add({time.codec, fmt::format("{:.4g}", time.bits_per_value),
             fmt::format("{:.3f}", time.encode_ns), fmt::format("{:.3f}", time.decode_ns),
             fmt::format("{:.3f}", time.accumulate_ns), fmt::format("{:.3f}", time.memcpy_ns),
             fmt::format("{:.2f}", time.encode_ratio()), fmt::format("{:.2f}", time.decode_ratio()),
             fmt::format("{:.2f}", time.accumulate_ratio())});
}

struct Job {
  std::vector<std::string> specs;
  std::vector<std::size_t> sizes;
};

// Everything is looked at before anything is measured: a misspelt last word must not cost minutes.
Job job_of(const BenchWords& words) {
  Job job{.specs = words.specs.empty() ? bench::all_variants() : words.specs, .sizes = {}};
  for (const std::string& spec : job.specs) make_codec(spec);
  for (const std::string& size : split_list(words.sizes)) job.sizes.push_back(parse_count(size));
  if (words.threads < 1 || words.threads > kMostThreads)
    throw Error(Fault::usage, fmt::format("--threads takes 1 to {}", kMostThreads));
  require_seconds(words.min_time);
  return job;
}

void bench_codecs(const BenchWords& words, const Console& console) {
  const Job job = job_of(words);
  Team team(words.threads);
  Progress progress(console, job.specs.size() * job.sizes.size());
  for (const std::size_t size : job.sizes) {
    bench::CodecBench bench(size, team);
    Table table = empty_table();
    std::string target;
    for (const std::string& spec : job.specs) {
      progress.next(spec + ", " + count_text(size) + " values");
      const bench::CodecTime time = bench.measure(spec, words.min_time);
      progress.clear();
      if (words.json) console.out << as_json(time) << std::flush;
      add_row(table, time);
      target = time.target;
    }
    if (!words.json)
      console.out << fmt::format("{} values, {} thread{}, {}; x = times memcpy\n{}\n",
                                 count_text(size), words.threads, words.threads == 1 ? "" : "s",
                                 target, table.text())
                  << std::flush;
  }
}

}  // namespace

Action declare_bench_codec(Arguments& arguments) {
  const auto words = std::make_shared<BenchWords>();
  arguments.words("SPEC", words->specs, "Codecs; all with their usual variants when left out");
  arguments.option("--sizes LIST", words->sizes,
                   "Values in the tensor: K, M, G count in 1024 [64K,1M,25M]");
  arguments.option("--threads N", words->threads, "Threads that share the work [1]");
  arguments.option("--min-time S", words->min_time, "Seconds for each operation [0.15]");
  arguments.flag("--json", words->json, "JSON Lines, one object for each codec and size");
  return [words](const Console& console) { bench_codecs(*words, console); };
}

}  // namespace narrowcast::cli
