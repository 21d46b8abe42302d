#include <fmt/core.h>

#include <memory>

#include "base/json.hpp"
#include "bench/summary.hpp"
#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/input.hpp"
#include "codec/frame.hpp"

namespace narrowcast::cli {
namespace {

struct InspectWords {
  std::string file;
  bool json = false;
};

std::string as_json(const FrameInfo& info, const bench::Summary& summary) {
  const auto of_finite = [&](double value) {
    return summary.finite > 0 ? JsonValue(value) : nullptr;
  };
  return json_line({
      {"version", info.version},
      {"spec", info.spec},
      {"values", info.count},
      {"payload_bytes", info.payload.size()},
      {"ratio", compression_ratio(info)},
      {"checksum", fmt::format("{:016x}", info.checksum)},
      {"min", of_finite(summary.least)},
      {"max", of_finite(summary.most)},
      {"mean", of_finite(summary.mean)},
      {"not_finite", summary.not_finite},
  });
}

std::string as_text(const FrameInfo& info, const bench::Summary& summary) {
  std::string text = fmt::format(
      "version     {}\n"
      "codec       {}\n"
      "values      {}\n"
      "payload     {} bytes, {:.4g} times smaller than float32\n"
      "checksum    {:016x}, correct\n",
      info.version, info.spec, info.count, info.payload.size(), compression_ratio(info),
      info.checksum);
  if (summary.finite > 0)
    text += fmt::format("decoded     min {:.6g}, max {:.6g}, mean {:.6g}\n", summary.least,
                        summary.most, summary.mean);
  if (summary.not_finite > 0)
    text += fmt::format("not finite  {} values are NaN or infinite\n", summary.not_finite);
  return text;
}

void inspect_file(const InspectWords& words, const Console& console) {
  const std::vector<std::byte> frame = read_bytes(words.file, console);
  const auto [info, values] = read_and_decode(frame);
  const bench::Summary summary = bench::summarise(values);
  console.out << (words.json ? as_json(info, summary) : as_text(info, summary));
}

}  // namespace

Action declare_inspect(Arguments& arguments) {
  const auto words = std::make_shared<InspectWords>();
  arguments.optional_word("FILE", words->file, "A frame; standard input when left out");
  arguments.flag("--json", words->json, "One JSON object");
  return [words](const Console& console) { inspect_file(*words, console); };
}

}  // namespace narrowcast::cli
