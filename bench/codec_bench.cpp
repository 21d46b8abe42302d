#include "bench/codec_bench.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "base/error.hpp"
#include "bench/accuracy.hpp"
#include "bench/machine.hpp"
#include "bench/stopwatch.hpp"
#include "bench/yardstick.hpp"
#include "codec/parallel.hpp"
#include "codec/samples.hpp"
#include "codec/target.hpp"

namespace narrowcast::bench {
namespace {

void draw_gradient(MutableFloats out, Team& team) {
  const Distribution& gradient = distribution("gradient");
  const Stream stream = stream_of({.seed = 1});
  const auto members = static_cast<std::size_t>(team.size());
  team.run([&](int member) {
    const std::size_t begin = out.size() / members * static_cast<std::size_t>(member);
    const std::size_t end = member + 1 == team.size() ? out.size() : begin + out.size() / members;
    gradient.draw(stream, begin, out.subspan(begin, end - begin));
  });
}

[[noreturn]] void report_broken(const Codec& codec, std::string_view what, std::size_t index) {
  throw Error(Fault::system,
              fmt::format("{} breaks its promise: {} at value {}", codec.spec(), what, index));
}

// Adding a message to its own negation leaves exact zeros, without a third tensor. Only what is not
// finite leaves NaN, so it is counted here.
std::size_t negate(MutableFloats values) {
  std::size_t not_finite = 0;
  for (float& x : values) {
    not_finite += std::isfinite(x) ? 0 : 1;
    x = -x;
  }
  return not_finite;
}

// The index of a value that is neither zero nor one of as many NaN as there may be.
std::optional<std::size_t> not_cancelled(Floats sums, std::size_t not_finite) {
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (sums[i] == 0) continue;
    if (!std::isnan(sums[i]) || not_finite == 0) return i;
    --not_finite;
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> all_variants() {
  std::vector<std::string> specs;
  for (const CodecRow& row : codecs())
    specs.insert(specs.end(), row.variants.begin(), row.variants.end());
  return specs;
}

CodecBench::CodecBench(std::size_t values, Team& team) : team_(team) {
  require(values > 0, Fault::usage, "a benchmark needs at least one value");
  require_memory_for_tensors(kTensors, values);
  exact_.resize(values);
  landing_.resize(values);
  draw_gradient(exact_, team);
}

// Leaves the message in wire_ and returns its size.
std::size_t CodecBench::encode_checked(const Codec& codec) {
  wire_.resize(codec.max_bytes(exact_.size()));
  const std::size_t used = encode(codec, exact_, wire_, {}, team_);
  const Bytes message = Bytes(wire_).first(used);
  decode(codec, message, landing_, 0, team_);
  if (const auto index = broken_promise(codec.promise(), exact_, landing_))
    report_broken(codec, "the error is too large", *index);

  const std::size_t not_finite = negate(landing_);
  accumulate(codec, message, landing_, 0, team_);
  if (const auto index = not_cancelled(landing_, not_finite))
    report_broken(codec, "accumulate differs from decode", *index);
  return used;
}

CodecTime CodecBench::measure(std::string_view spec, double seconds) {
  const std::unique_ptr<Codec> codec = make_codec(spec);
  const std::size_t used = encode_checked(*codec);
  const Bytes message = Bytes(wire_).first(used);
  const std::array<Operation, 5> operations = {
      [&] { copy_by_memcpy(exact_, landing_, team_); },
      [&] { copy_by_loop(exact_, landing_, team_); },
      [&] { encode(*codec, exact_, wire_, {}, team_); },
      [&] { decode(*codec, message, landing_, 0, team_); },
      [&] { accumulate(*codec, message, landing_, 0, team_); },
  };
  const std::vector<double> best = best_nanoseconds(operations, seconds);
  const auto count = static_cast<double>(exact_.size());
  return {.codec = std::string(spec),
          .values = exact_.size(),
          .threads = team_.size(),
          .target = active_target(),
          .encode_ns = best[2] / count,
          .decode_ns = best[3] / count,
          .accumulate_ns = best[4] / count,
          .memcpy_ns = std::min(best[0], best[1]) / count,
          .bits_per_value = 8 * static_cast<double>(used) / count};
}

}  // namespace narrowcast::bench
