#include "train/loop/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/error.hpp"
#include "base/version.hpp"

namespace narrowcast {
namespace {

constexpr std::string_view kFormat = "narrowcast checkpoint 1";

std::string hex(std::uint64_t number) { return fmt::format("{:016x}", number); }

const std::string& text_of(const Snapshot& snapshot, const std::string& key) {
  const auto found = snapshot.about.find(key);
  if (found == snapshot.about.end())
    throw Error(Fault::wire, fmt::format("the checkpoint has no '{}'", key));
  return found->second;
}

template <class Number>
Number number_of(const Snapshot& snapshot, const std::string& key) {
  const std::string& text = text_of(snapshot, key);
  Number value{};
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc{} || end != text.data() + text.size())
    throw Error(Fault::wire, fmt::format("the checkpoint's '{}' is no number: {}", key, text));
  return value;
}

void require_same(const Snapshot& snapshot, const std::string& key, const std::string& here) {
  const std::string& there = text_of(snapshot, key);
  if (there != here)
    throw Error(Fault::usage, fmt::format("the checkpoint is of {} {}, this run of {}; choose "
                                          "another --checkpoint folder",
                                          key, there, here));
}

}  // namespace

void Progress::note_error(double percent) {
  last_error = percent;
  best_error = best_error < 0 ? percent : std::min(best_error, percent);
}

std::optional<double> Progress::best() const {
  return best_error < 0 ? std::nullopt : std::optional(best_error);
}

std::optional<double> Progress::last() const {
  return last_error < 0 ? std::nullopt : std::optional(last_error);
}

Snapshot snapshot_of(const Progress& progress, const Run& run, const DataSet& data,
                     std::vector<Array> arrays) {
  Snapshot snapshot;
  snapshot.arrays = std::move(arrays);
  snapshot.about = {{"format", std::string(kFormat)},
                    {"version", std::string(version())},
                    {"network", run.net},
                    {"data", data.name},
                    {"fingerprint", hex(data.fingerprint)},
                    {"seed", std::to_string(run.seed)},
                    {"run", to_toml(run)},
                    {"step", std::to_string(progress.step)},
                    {"epoch", std::to_string(progress.epoch)},
                    {"images", std::to_string(progress.images_in_epoch)},
                    // The fewest digits that read back the same.
                    {"loss_sum", fmt::format("{}", progress.loss_sum)},
                    {"loss_count", fmt::format("{}", progress.loss_count)},
                    {"best_error", fmt::format("{}", progress.best_error)},
                    {"last_error", fmt::format("{}", progress.last_error)}};
  return snapshot;
}

Progress read_progress(const Snapshot& snapshot, const Run& run, const DataSet& data) {
  if (text_of(snapshot, "format") != kFormat)
    throw Error(Fault::wire,
                fmt::format("not a checkpoint that this version reads: '{}', where '{}' is known",
                            text_of(snapshot, "format"), kFormat));
  require_same(snapshot, "network", run.net);
  require_same(snapshot, "data", data.name);
  require_same(snapshot, "fingerprint", hex(data.fingerprint));
  require_same(snapshot, "seed", std::to_string(run.seed));
  return {.step = number_of<std::uint64_t>(snapshot, "step"),
          .epoch = number_of<std::uint64_t>(snapshot, "epoch"),
          .images_in_epoch = number_of<std::uint64_t>(snapshot, "images"),
          .loss_sum = number_of<double>(snapshot, "loss_sum"),
          .loss_count = number_of<double>(snapshot, "loss_count"),
          .best_error = number_of<double>(snapshot, "best_error"),
          .last_error = number_of<double>(snapshot, "last_error")};
}

void EpochSums::add(const StepOutcome& outcome) {
  const StepReport& report = outcome.report;
  ++steps;
  sums.step += outcome.step_ms;
  sums.compute += outcome.step_ms - report.wait_ms;
  sums.encode += report.encode_ms;
  sums.wire += report.wire_ms;
  sums.decode += report.decode_ms;
  sums.wait += report.wait_ms;
  busy += report.busy_ms;
  bytes += report.bytes();
  fp32_bytes += report.fp32_bytes;
  for (const auto& [codec, sent] : report.bytes_by_codec) bytes_by_codec[codec] += sent;
  skipped += report.skipped ? 1 : 0;
}

EpochSums& EpochSums::operator+=(const EpochSums& other) {
  steps += other.steps;
  seconds += other.seconds;
  sums.step += other.sums.step;
  sums.compute += other.sums.compute;
  sums.encode += other.sums.encode;
  sums.wire += other.sums.wire;
  sums.decode += other.sums.decode;
  sums.wait += other.sums.wait;
  busy += other.busy;
  bytes += other.bytes;
  fp32_bytes += other.fp32_bytes;
  for (const auto& [codec, sent] : other.bytes_by_codec) bytes_by_codec[codec] += sent;
  skipped += other.skipped;
  return *this;
}

Times EpochSums::means() const {
  const double count = steps == 0 ? 1 : static_cast<double>(steps);
  return {.step = sums.step / count,
          .compute = sums.compute / count,
          .encode = sums.encode / count,
          .wire = sums.wire / count,
          .decode = sums.decode / count,
          .wait = sums.wait / count,
          .overlap = busy > 0 ? std::clamp(1 - sums.wait / busy, 0.0, 1.0) : 0};
}

ImageShape parse_shape(std::string_view text) {
  std::array<int, 3> sides = {};
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  for (std::size_t i = 0; i < sides.size(); ++i) {
    const auto [next, failed] = std::from_chars(at, end, sides[i]);
    const bool more = i + 1 < sides.size();
    if (failed != std::errc{} || sides[i] < 1 || (more ? next == end || *next != 'x' : next != end))
      throw Error(Fault::usage, fmt::format("'{}' is no shape like 3x32x32", text));
    at = next + 1;
  }
  return {.channels = sides[0], .height = sides[1], .width = sides[2]};
}

}  // namespace narrowcast
