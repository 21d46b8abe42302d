#include <fmt/core.h>

#include <memory>

#include "base/error.hpp"
#include "base/json.hpp"
#include "bench/round_off.hpp"
#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/progress.hpp"
#include "cli/table.hpp"
#include "plan/counts.hpp"

namespace narrowcast::cli {
namespace {

struct RoundOffWords {
  std::string codec = "float:e=5,m=2";
  int ranks = 256;
  std::string values = "9408";
  std::string seed = "1";
  bool json = false;
};

constexpr int kMostRanks = 1024;  // threads of this process
constexpr std::size_t kMostSums = 18;

JsonValue optional_json(const std::optional<double>& number) {
  return number ? JsonValue(*number) : JsonValue(nullptr);
}

std::string as_json(const bench::RoundOff& row, const RoundOffWords& words) {
  return json_line({
      {"algorithm", row.algorithm},
      {"group", row.group},
      {"codec", words.codec},
      {"ranks", words.ranks},
      {"format_percent", row.format_percent},
      {"kahan_percent", optional_json(row.kahan_percent)},
      {"fp32_percent", row.fp32_percent},
      {"published_percent", optional_json(row.published_percent)},
  });
}

std::string percent(const std::optional<double>& number) {
  return number ? fmt::format("{:.1f}", *number) : "";
}

std::string as_text(const std::vector<bench::RoundOff>& rows, const RoundOffWords& words) {
  Table table(
      {{"algorithm", Align::left}, {"sum=format %"}, {"sum=kahan %"}, {"sum=fp32 %"}, {"paper %"}});
  for (const bench::RoundOff& row : rows)
    table.add({row.group == 0 ? row.algorithm : fmt::format("groups of {}", row.group),
               percent(row.format_percent), percent(row.kahan_percent), percent(row.fp32_percent),
               percent(row.published_percent)});
  return fmt::format(
      "{} values summed over {} ranks in {}, scaled by 2^k so that no sum overflows (APS)\n\n{}\n"
      "Mean of |high - low| / |high|, where high is the sum in double, over sums that are not "
      "zero.\n"
      "Every rank has the same gradient-like values plus noise of its own that is as large. Sums "
      "are\n"
      "rounded to the format after each addition (format), with Kahan's compensation (kahan), or\n"
      "only when they travel (fp32). paper: sum=format on real gradients of ResNet-50's first\n"
      "convolution (Han et al., 2020), for direction rather than digits: of several kinds of "
      "values\n"
      "the one nearest to its figures was taken. In all of them the ring was worst and groups of "
      "8\n"
      "to 32 were best; levels differ.\n",
      words.values, words.ranks, words.codec, table.text());
}

void measure(const RoundOffWords& words, const Console& console) {
  const std::unique_ptr<Codec> codec = make_codec(words.codec);
  if (words.ranks < 2 || words.ranks > kMostRanks)
    throw Error(Fault::usage, fmt::format("--ranks takes 2 to {}", kMostRanks));
  Progress progress(console, kMostSums - 1);
  const std::vector<bench::RoundOff> rows =
      bench::measure_round_off({.ranks = words.ranks,
                                .values = parse_count(words.values),
                                .codec = codec.get(),
                                .seed = parse_number(words.seed, "a seed: digits alone"),
                                .before = [&](const std::string& what) { progress.next(what); }});
  progress.clear();
  if (!words.json)
    console.out << as_text(rows, words);
  else
    for (const bench::RoundOff& row : rows) console.out << as_json(row, words);
}

}  // namespace

Action declare_errors_allreduce(Arguments& arguments) {
  const auto words = std::make_shared<RoundOffWords>();
  arguments.option("--codec SPEC", words->codec,
                   "Element-wise: float, e4m3, e5m2, fp16 or bf16 [float:e=5,m=2]");
  arguments.option("--ranks N", words->ranks, "Threads of this process [256]");
  arguments.option("--values N", words->values, "In the tensor: K, M, G count in 1024 [9408]");
  arguments.option("--seed N", words->seed, "Of values and dice [1]");
  arguments.flag("--json", words->json, "JSON Lines, one object for each algorithm");
  return [words](const Console& console) { measure(*words, console); };
}

}  // namespace narrowcast::cli
