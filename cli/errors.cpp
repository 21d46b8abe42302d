#include <fmt/core.h>

#include <algorithm>
#include <memory>

#include "base/json.hpp"
#include "bench/codec_bench.hpp"
#include "bench/sampling.hpp"
#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/input.hpp"
#include "cli/progress.hpp"
#include "cli/table.hpp"
#include "codec/samples.hpp"
#include "plan/counts.hpp"

namespace narrowcast::cli {
namespace {

struct ErrorsWords {
  std::vector<std::string> specs;
  std::string dist;
  std::string samples;
  bool json = false;
};

struct Subject {
  std::string spec;
  std::unique_ptr<Codec> codec;
};

struct Measured {
  std::string spec;
  std::string_view distribution;
  bench::SampledError error;
};

std::string as_json(const Measured& measured) {
  const Distortion& distortion = measured.error.accuracy.distortion;
  std::vector<JsonMember> line = {
      {"codec", measured.spec},
      {"distribution", measured.distribution},
      {"samples", measured.error.samples},
      {"bits_per_value", measured.error.accuracy.bits_per_value},
      {"mae", distortion.mean_absolute()},
      {"mse", distortion.mean_squared()},
      {"relative_percent", distortion.mean_relative_percent()},
      {"snr_db", distortion.signal_to_noise_db()},
      {"cosine", distortion.cosine()},
  };
  if (measured.error.published)
    line.push_back({"published", json_object({{"mse", measured.error.published->mean_squared},
                                              {"relative_percent",
                                               measured.error.published->relative_percent}})});
  return json_line(line);
}

Table empty_table() {
  return Table({{"codec", Align::left},
                {"samples"},
                {"MAE"},
                {"MSE"},
                {"relative %"},
                {"SNR dB"},
                {"cosine"},
                {"paper: MSE"},
                {"relative %"}});
}

void add_row(Table& table, const Measured& measured) {
  const Distortion& distortion = measured.error.accuracy.distortion;
  const auto& published = measured.error.published;
  table.add({measured.spec, count_text(measured.error.samples),
             fmt::format("{:.3g}", distortion.mean_absolute()),
             fmt::format("{:.3g}", distortion.mean_squared()),
             fmt::format("{:.2f}", distortion.mean_relative_percent()),
             fmt::format("{:.1f}", distortion.signal_to_noise_db()),
             fmt::format("{:.5f}", distortion.cosine()),
             published ? fmt::format("{:.2g}", published->mean_squared) : "",
             published ? fmt::format("{:.2f}", published->relative_percent) : ""});
}

std::vector<const Distribution*> chosen_distributions(const ErrorsWords& words) {
  std::vector<const Distribution*> chosen;
  if (words.dist.empty())
    for (const Distribution& each : distributions()) chosen.push_back(&each);
  else
    for (const std::string& name : split_list(words.dist)) chosen.push_back(&distribution(name));
  return chosen;
}

// The paper's own settings first, beside its figures, then every other variant.
std::vector<std::string> chosen_specs(const ErrorsWords& words) {
  if (!words.specs.empty()) return words.specs;
  std::vector<std::string> specs(bench::published_specs().begin(), bench::published_specs().end());
  for (std::string& spec : bench::all_variants())
    if (std::ranges::find(specs, spec) == specs.end()) specs.push_back(std::move(spec));
  return specs;
}

std::vector<Subject> subjects_of(const ErrorsWords& words) {
  std::vector<Subject> subjects;
  for (std::string& spec : chosen_specs(words)) {
    std::unique_ptr<Codec> codec = make_codec(spec);
    subjects.push_back({std::move(spec), std::move(codec)});
  }
  return subjects;
}

void measure_errors(const ErrorsWords& words, const Console& console) {
  const std::vector<const Distribution*> chosen = chosen_distributions(words);
  const std::vector<Subject> subjects = subjects_of(words);
  std::optional<std::size_t> asked;
  if (!words.samples.empty()) asked = parse_count(words.samples);
  Progress progress(console, subjects.size() * chosen.size());

  for (const Distribution* from : chosen) {
    bench::Samples samples(*from);
    Table table = empty_table();
    for (const Subject& subject : subjects) {
      progress.next(subject.spec + " on " + std::string(from->name));
      const Measured measured{subject.spec, from->name,
                              bench::measure_error(*subject.codec, samples, asked)};
      progress.clear();
      if (words.json) console.out << as_json(measured) << std::flush;
      add_row(table, measured);
    }
    if (!words.json)
      console.out << fmt::format("{}: {}\n{}\n", from->name, from->meaning, table.text())
                  << std::flush;
  }
}

}  // namespace

Action declare_errors(Arguments& arguments) {
  const auto words = std::make_shared<ErrorsWords>();
  arguments.words("SPEC", words->specs, "Codecs; all with their usual variants when left out");
  std::string names;
  for (const Distribution& each : distributions())
    names += (names.empty() ? "" : ",") + std::string(each.name);
  arguments.option("--dist LIST", words->dist, "Distributions, of " + names + " [all]");
  arguments.option("--samples N", words->samples,
                   "How many; K, M, G count in 1024 [1M, and 25M beside the paper's figures]");
  arguments.flag("--json", words->json, "JSON Lines, one object for each codec and distribution");
  return [words](const Console& console) { measure_errors(*words, console); };
}

}  // namespace narrowcast::cli
