#include "train/loop/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/error.hpp"

namespace narrowcast {

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
