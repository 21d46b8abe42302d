#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/json.hpp"
#include "bench/comparison.hpp"
#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/input.hpp"
#include "cli/progress.hpp"
#include "cli/table.hpp"
#include "plan/counts.hpp"

namespace narrowcast::cli {
namespace {

struct CompareWords {
  std::string values = "1M";
  double min_time = 0.05;
  bool json = false;
};

constexpr double kBarBits = 2;  // that one character of the bar stands for

// Sixteen characters for 32 bits; half a character is drawn as such.
std::string bar(double bits, const Terminals& terminals) {
  const auto halves = static_cast<int>(std::lround(std::max(bits / kBarBits * 2, 1.0)));
  std::string text;
  for (int i = 0; i < halves / 2; ++i) text += "█";
  if (halves % 2 != 0) text += "▌";
  if (!terminals.colour) return text;
  const std::string_view colour = bits > 16 ? "\x1b[31m" : bits > 8.5 ? "\x1b[33m" : "\x1b[32m";
  return fmt::format("{}{}\x1b[0m", colour, text);
}

std::string error_percent(double percent) {
  if (percent == 0) return "0";
  return percent < 1 ? fmt::format("{:.3f}", percent) : fmt::format("{:.1f}", percent);
}

std::string as_json(const bench::Comparison& row) {
  return json_line({
      {"codec", row.time.codec},
      {"values", row.time.values},
      {"target", row.time.target},
      {"bits_per_value", row.time.bits_per_value},
      {"ratio", row.ratio_to_fp32()},
      {"snr_db", row.distortion.signal_to_noise_db()},
      {"relative_percent", row.distortion.mean_relative_percent()},
      {"cosine", row.distortion.cosine()},
      {"encode_ns", row.time.encode_ns},
      {"decode_ns", row.time.decode_ns},
      {"memcpy_ns", row.time.memcpy_ns},
  });
}

std::vector<std::string> cells(const bench::Comparison& row, const Terminals& terminals) {
  const double snr = row.distortion.signal_to_noise_db();
  return {row.time.codec,
          fmt::format("{:.2f}", row.time.bits_per_value),
          bar(row.time.bits_per_value, terminals),
          fmt::format("{:.1f}x", row.ratio_to_fp32()),
          std::isinf(snr) ? "exact" : fmt::format("{:.1f}", snr),
          error_percent(row.distortion.mean_relative_percent()),
          fmt::format("{:.2f}", row.time.encode_ns),
          fmt::format("{:.2f}", row.time.decode_ns),
          fmt::format("{:.1f}x", row.time.encode_ratio()),
          fmt::format("{:.1f}x", row.time.decode_ratio())};
}

std::string as_text(const std::vector<bench::Comparison>& rows, const Terminals& terminals) {
  Table table({{"codec", Align::left},
               {"bits"},
               {"", Align::left},
               {"smaller"},
               {"SNR dB"},
               {"error %"},
               {"enc ns"},
               {"dec ns"},
               {"enc/copy"},
               {"dec/copy"}});
  for (const bench::Comparison& row : rows) table.add(cells(row, terminals));
  return fmt::format(
      "{} gradient-like values, one thread, CPU target {}\n\n{}\n"
      "bits, enc, dec: for each value. error: mean of |x - x'| / |x|. copy: memcpy of the same\n"
      "float32 array in the same run, {:.2f} ns a value. e4m3 and e5m2 have no scale of their "
      "own:\n"
      "gradients below their range vanish unless something scales them first.\n",
      count_text(rows.front().time.values), rows.front().time.target, table.text(),
      rows.front().time.memcpy_ns);
}

void compare(const CompareWords& words, const Console& console) {
  require_seconds(words.min_time);
  Progress progress(console, bench::comparison_specs().size());
  const std::vector<bench::Comparison> rows =
      bench::compare_codecs({.values = parse_count(words.values),
                             .seconds = words.min_time,
                             .before = [&](std::string_view spec) { progress.next(spec); }});
  progress.clear();
  if (!words.json)
    console.out << as_text(rows, console.terminals);
  else
    for (const bench::Comparison& row : rows) console.out << as_json(row);
}

}  // namespace

Action declare_compare(Arguments& arguments) {
  const auto words = std::make_shared<CompareWords>();
  arguments.option("--values N", words->values, "Values in the tensor: K, M, G count in 1024 [1M]");
  arguments.option("--min-time S", words->min_time, "Seconds for each operation [0.05]");
  arguments.flag("--json", words->json, "JSON Lines, one object for each codec");
  return [words](const Console& console) { compare(*words, console); };
}

}  // namespace narrowcast::cli
