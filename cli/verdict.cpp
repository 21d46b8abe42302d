#include "cli/verdict.hpp"

#include <fmt/format.h>

#include <cmath>

#include "cli/prediction.hpp"
#include "cli/table.hpp"

namespace narrowcast::cli {
namespace {

std::string_view explained(std::string_view term) {
  if (term == "compute") return "computing: a quicker network or fewer bits would gain less";
  if (term == "network") return "the network's bandwidth";
  if (term == "machine") return "the links within a machine";
  if (term == "latency") return "latency: fewer and larger messages help, fewer bits do not";
  if (term == "codec") return "encoding and decoding: more bits in a simpler codec may be quicker";
  return "workers that are late: the step waits for the slowest";
}

std::string flip_text(const Advice& advice) {
  if (advice.narrow.codec.empty()) return {};
  const std::string& codec = advice.narrow.codec;
  if (advice.flips_at == 0) return fmt::format("{} gains 3 % on no link, however slow.\n", codec);
  if (std::isinf(advice.flips_at))
    return fmt::format("{} gains at least 3 % on any link.\n", codec);
  return fmt::format(
      "The answer flips at {}: on slower links {} gains 3 % or more, on quicker ones less.\n",
      rate_text(advice.flips_at), codec);
}

std::string table_of(const Advice& advice) {
  Table table({{"codec", Align::left},
               {"algorithm", Align::left},
               {"fusion MiB"},
               {"step ms"},
               {"between"},
               {"wait ms"},
               {"MB sent"},
               {"over fp32"},
               {"rounding"}});
  for (const Candidate& candidate : advice.all)
    table.add({candidate.codec, candidate.plan.algorithm,
               fmt::format("{}", candidate.plan.fusion_bytes >> 20),
               fmt::format("{:.2f}", candidate.forecast.step),
               fmt::format("{:.2f}-{:.2f}", candidate.forecast.low, candidate.forecast.high),
               fmt::format("{:.2f}", candidate.forecast.wait),
               fmt::format("{:.2f}", candidate.forecast.bytes / 1e6),
               fmt::format("{:.2f}", advice.plain.forecast.step / candidate.forecast.step),
               fmt::format("{:.2g}", candidate.error)});
  return table.text();
}

}  // namespace

std::string verdict_line(const Advice& advice) {
  const Gain& gain = advice.gain;
  if (advice.verdict == Verdict::compress)
    return fmt::format(
        "Compress: {} with {} in buffers of {} MiB makes a step {:.2f} times as quick as fp32 "
        "({:.2f} to {:.2f}).",
        advice.best.codec, advice.best.plan.algorithm, advice.best.plan.fusion_bytes >> 20,
        gain.times, gain.low, gain.high);
  if (advice.narrow.codec.empty()) return "Do not compress: no codec is within the error allowed.";
  if (gain.times >= kWorthwhileGain)
    return fmt::format(
        "Do not compress: the quickest codec, {}, may make a step {:.2f} times as quick, but "
        "anything "
        "from {:.2f} to {:.2f} is likely: calibrate longer, or try it.",
        advice.narrow.codec, gain.times, gain.low, gain.high);
  return fmt::format(
      "Do not compress: the quickest codec, {}, would make a step {:.2f} times as quick ({:.2f} to "
      "{:.2f}), which is not worth its rounding.",
      advice.narrow.codec, gain.times, gain.low, gain.high);
}

std::string verdict_text(const Advice& advice, const Wish& wish, const Profile& profile) {
  std::string text = fmt::format("{} on {} workers of {}\n\n{}\n", wish.model, wish.workers,
                                 profile.name, verdict_line(advice));
  text += fmt::format("Most of the {:.2f} ms of that step is {}.\n", advice.best.forecast.step,
                      explained(advice.dominant));
  text += flip_text(advice);
  if (!advice.kept.empty())
    text += fmt::format("In fp32 all the same, because it hides behind computing: {}.\n",
                        fmt::join(advice.kept, ", "));
  return text + "\n" + table_of(advice);
}

}  // namespace narrowcast::cli
