#include <fmt/core.h>

#include <memory>

#include "base/error.hpp"
#include "base/json.hpp"
#include "bench/accuracy.hpp"
#include "cli/arguments.hpp"
#include "cli/codecs_page.hpp"
#include "cli/command.hpp"
#include "cli/table.hpp"
#include "codec/codec.hpp"
#include "codec/promise_text.hpp"

namespace narrowcast::cli {
namespace {

struct CodecsWords {
  bool json = false;
  bool markdown = false;
};

JsonValue fallback_json(const Option& option) {
  if (option.fallback.empty()) return nullptr;
  return option.fallback;
}

JsonValue options_json(const CodecRow& row) {
  std::vector<JsonValue> options;
  for (const Option& option : row.options)
    options.push_back(json_object({{"key", option.key},
                                   {"default", fallback_json(option)},
                                   {"required", option.required},
                                   {"values", option.values},
                                   {"meaning", option.meaning}}));
  return json_array(options);
}

std::string as_json(const CodecRow& row, std::string_view spec) {
  const std::unique_ptr<Codec> codec = make_codec(spec);
  const Promise& promise = codec->promise();
  return json_line({
      {"name", row.name},
      {"spec", spec},
      {"canonical", codec->spec()},
      {"summary", row.summary},
      {"options", options_json(row)},
      {"bits_per_value", bench::nominal_bits(*codec)},
      {"block", promise.block},
      {"fixed_size", promise.fixed_size},
      {"error", json_object({{"of_block", promise.of_block},
                             {"of_value", promise.of_value},
                             {"absolute", promise.absolute},
                             {"largest", promise.largest}})},
      {"bias", promise.bias ? JsonValue(*promise.bias) : nullptr},
      {"non_finite", name_of(promise.non_finite)},
  });
}

void list_json(const Console& console) {
  for (const CodecRow& row : codecs())
    for (const std::string_view spec : row.variants) console.out << as_json(row, spec);
}

void list_text(const Console& console) {
  console.out << variants_table().text() << "\n" << kVariantsLegend << "\n\nOptions\n";
  for (const CodecRow& row : codecs()) {
    console.out << fmt::format("\n{}: {}\n", row.name, row.summary);
    for (const Option& option : row.options) {
      const auto [spec, note] = option_text(row, option);
      console.out << fmt::format("  {:<24} {}; {}\n", spec + note, option.values, option.meaning);
    }
  }
}

void list_codecs(const CodecsWords& words, const Console& console) {
  require(!(words.json && words.markdown), Fault::usage, "--json or --markdown, not both");
  if (words.json)
    list_json(console);
  else if (words.markdown)
    console.out << codecs_page();
  else
    list_text(console);
}

}  // namespace

Action declare_codecs(Arguments& arguments) {
  const auto words = std::make_shared<CodecsWords>();
  arguments.flag("--json", words->json, "JSON Lines, one object for each variant");
  arguments.flag("--markdown", words->markdown, "The page docs/codecs.md");
  return [words](const Console& console) { list_codecs(*words, console); };
}

}  // namespace narrowcast::cli
