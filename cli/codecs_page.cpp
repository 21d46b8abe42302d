#include "cli/codecs_page.hpp"

#include <fmt/core.h>

#include <memory>

#include "bench/accuracy.hpp"
#include "codec/promise_text.hpp"

namespace narrowcast::cli {

const std::string_view kVariantsLegend =
    "bits        for each value in a large tensor; <= where the size depends on the values\n"
    "block       cutting a tensor at a multiple of it changes nothing; all: not to be cut\n"
    "error       the most that |x - x'| can be: of the block's largest |x| (max), of |x|, or "
    "absolute,\n"
    "            whichever is larger; --json adds what holds for the smallest floats\n"
    "bias        the most that the mean of x' over all dice can be off, of max; empty: no dice\n"
    "NaN, Inf    what becomes of them";

namespace {

// An option with neither a default nor the duty to be given follows from those before it.
std::string origin_of(const CodecRow& row, const Option& option) {
  std::string text = "depends on";
  for (const Option& each : row.options) {
    if (each.key == option.key) break;
    text.append(" ").append(each.key);
  }
  return text;
}

}  // namespace

Table variants_table() {
  Table table({{"spec", Align::left},
               {"bits"},
               {"block"},
               {"error", Align::left},
               {"bias", Align::left},
               {"NaN, Inf", Align::left}});
  for (const CodecRow& row : codecs())
    for (const std::string_view spec : row.variants) {
      const std::unique_ptr<Codec> codec = make_codec(spec);
      const Promise& promise = codec->promise();
      table.add(
          {std::string(spec),
           fmt::format("{}{:.5g}", promise.fixed_size ? "" : "<= ", bench::nominal_bits(*codec)),
           block_text(promise), error_text(promise), bias_text(promise),
           std::string(name_of(promise.non_finite))});
    }
  return table;
}

OptionText option_text(const CodecRow& row, const Option& option) {
  if (option.required) return {std::string(option.key), " (required)"};
  if (option.fallback.empty())
    return {std::string(option.key), fmt::format(" ({})", origin_of(row, option))};
  return {fmt::format("{}={}", option.key, option.fallback), ""};
}

namespace {

std::string codec_section(const CodecRow& row) {
  std::string text = fmt::format("\n### {}\n\n{}\n", row.name, row.summary);
  if (row.options.empty()) return text;
  Table table({{"option", Align::left}, {"takes", Align::left}, {"meaning", Align::left}});
  for (const Option& option : row.options) {
    const auto [spec, note] = option_text(row, option);
    table.add({fmt::format("`{}`{}", spec, note), fmt::format("`{}`", option.values),
               std::string(option.meaning)});
  }
  return text + "\n" + table.markdown();
}

std::string non_finite_section() {
  Table table({{"promise", Align::left}, {"what becomes of NaN and infinity", Align::left}});
  for (const NonFinite each :
       {NonFinite::exact, NonFinite::nan_becomes_inf, NonFinite::inf_becomes_nan,
        NonFinite::saturates_inf, NonFinite::nan_becomes_inf_inf_saturates, NonFinite::block_is_nan,
        NonFinite::block_not_finite, NonFinite::refuses_nan})
    table.add({std::string(name_of(each)), std::string(meaning_of(each))});
  return table.markdown();
}

}  // namespace

std::string codecs_page() {
  std::string text =
      "# Codecs\n\n"
      "Written by `narrowcast codecs --markdown`; a test compares the two.\n\n"
      "A codec is named by a spec, `name[:key=value,...]`. What is left out has its default. The\n"
      "usual variants, and what each promises:\n\n";
  text += variants_table().markdown();
  text += "\n```text\n" + std::string(kVariantsLegend) + "\n```\n\n" + non_finite_section();
  text += "\n## Options\n";
  for (const CodecRow& row : codecs()) text += codec_section(row);
  return text;
}

}  // namespace narrowcast::cli
