#include "bench/round_off.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.hpp"
#include "bench/collective_threads.hpp"
#include "codec/samples.hpp"

namespace narrowcast::bench {
namespace {

constexpr int kPublishedRanks = 256;
constexpr std::string_view kPublishedCodec = "float:e=5,m=2";

struct PublishedRoundOff {
  int group;  // 0: the ring
  double percent;
};
constexpr PublishedRoundOff kPublished[] = {{4, 55},    {8, 44.2},  {16, 41.8},
                                            {32, 49.6}, {64, 58.2}, {0, 85.2}};

// Who sends noise throws other dice than who sends rounded values.
constexpr std::uint64_t kCommonTensor = 1;
constexpr std::uint64_t kNoiseTensor = 2;
constexpr std::size_t kNeighbours = 1024;  // values that share a scale, see codec/samples.cpp

struct Job {
  std::vector<std::vector<float>> gradients;  // by rank
  std::vector<double> exact;
  int exponent = 0;
};

Job job_of(const RoundOffRequest& request) {
  Job job;
  job.exact.resize(request.values);
  float largest = 0;
  for (int rank = 0; rank < request.ranks; ++rank) {
    job.gradients.push_back(noisy_gradient(request, rank));
    for (std::size_t i = 0; i < request.values; ++i) {
      job.exact[i] += static_cast<double>(job.gradients.back()[i]);
      largest = std::max(largest, std::abs(job.gradients.back()[i]));
    }
  }
  job.exponent = scaling_exponent(*request.codec, request.ranks, static_cast<double>(largest));
  return job;
}

double mean_relative_percent(const std::vector<double>& exact, Floats sums) {
  double total = 0;
  std::size_t counted = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    if (exact[i] == 0) continue;
    total += std::abs((exact[i] - static_cast<double>(sums[i])) / exact[i]);
    ++counted;
  }
  return counted == 0 ? 0 : 100 * total / static_cast<double>(counted);
}

double error_percent(const RoundOffRequest& request, const Job& job, const AllReduceRow& row,
                     const Reduction& how) {
  std::vector<float> sums;
  on_threads(request.ranks, [&](std::unique_ptr<Transport> net) {
    std::vector<float> values = job.gradients[static_cast<std::size_t>(net->rank())];
    const Piece piece{.values = values, .codec = request.codec, .exponent = job.exponent};
    Conversation group(*net, 0);
    all_reduce(row, {&piece, 1}, how, group);
    if (net->rank() == 0) sums = std::move(values);
  });
  return mean_relative_percent(job.exact, sums);
}

std::optional<double> published(const RoundOffRequest& request, int group) {
  if (request.ranks != kPublishedRanks ||
      request.codec->spec() != make_codec(kPublishedCodec)->spec())
    return std::nullopt;
  return std::ranges::find(kPublished, group, &PublishedRoundOff::group)->percent;
}

RoundOff measure(const RoundOffRequest& request, const Job& job, int group) {
  const AllReduceRow& row = all_reduce_row(group == 0 ? "ring" : "hierarchy");
  RoundOff found{.algorithm = std::string(row.name), .group = group};
  const auto percent = [&](Sum sum, std::string_view name) {
    request.before(fmt::format("{}{}, sum={}", row.name,
                               group == 0 ? "" : fmt::format(" of {}", group), name));
    const Reduction how{.travel = {.seed = request.seed}, .sum = sum, .group = group};
    return error_percent(request, job, row, how);
  };
  found.format_percent = percent(Sum::format, "format");
  if (row.kahan) found.kahan_percent = percent(Sum::kahan, "kahan");
  found.fp32_percent = percent(Sum::fp32, "fp32");
  found.published_percent = published(request, group);
  return found;
}

}  // namespace

int scaling_exponent(const Codec& codec, int ranks, double largest) {
  if (largest == 0 || !std::isfinite(largest)) return 0;
  const int power = static_cast<int>(std::floor(std::log2(codec.promise().largest)));
  const int needed = static_cast<int>(std::ceil(std::log2(ranks * largest)));
  return std::clamp(power - needed, -kMaxExponent, kMaxExponent);
}

std::vector<float> noisy_gradient(const RoundOffRequest& request, int rank) {
  std::vector<float> values(request.values);
  distribution("gradient")
      .draw(stream_of({.seed = request.seed, .tensor = kCommonTensor}), 0, values);
  std::vector<float> noise(request.values);
  distribution("laplace").draw(
      stream_of(
          {.seed = request.seed, .tensor = kNoiseTensor, .rank = static_cast<std::uint32_t>(rank)}),
      0, noise);
  for (std::size_t begin = 0; begin < values.size(); begin += kNeighbours) {
    const MutableFloats some =
        MutableFloats(values).subspan(begin, std::min(kNeighbours, values.size() - begin));
    double squares = 0;
    for (const float x : some) squares += static_cast<double>(x) * static_cast<double>(x);
    // Laplace(0,1) has a root mean square of sqrt(2).
    const double scale =
        std::sqrt(squares / static_cast<double>(some.size())) / std::numbers::sqrt2;
    for (std::size_t i = 0; i < some.size(); ++i)
      some[i] += static_cast<float>(scale) * noise[begin + i];
  }
  return values;
}

std::vector<RoundOff> measure_round_off(const RoundOffRequest& request) {
  require(request.ranks >= 1, Fault::usage, "a sum needs one rank at least");
  const Piece piece{.values = {}, .codec = request.codec};
  check(all_reduce_row("ring"), {&piece, 1}, {.sum = Sum::format});
  const Job job = job_of(request);
  std::vector<RoundOff> rows;
  for (const PublishedRoundOff& each : kPublished)
    if (each.group < request.ranks) rows.push_back(measure(request, job, each.group));
  return rows;
}

}  // namespace narrowcast::bench
