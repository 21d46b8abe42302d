#include <fmt/core.h>

#include <memory>

#include "base/error.hpp"
#include "base/json.hpp"
#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/table.hpp"
#include "study/compare.hpp"
#include "study/folder.hpp"

namespace narrowcast::cli {
namespace {

struct StudyCompareWords {
  std::string a;
  std::string b;
  std::string in;
  double tolerance = 0;
  bool json = false;
};

SidesCompared compared(const StudyCompareWords& words) {
  if (!words.in.empty())
    return compare_codecs(read_records(words.in), {words.a, words.b}, words.tolerance);
  return compare_records(read_records(words.a), read_records(words.b), words.tolerance);
}

std::string estimate_text(const Estimate& estimate) {
  if (estimate.count == 0) return "-";
  if (!estimate.low) return fmt::format("{:.3g}", estimate.mean);
  return fmt::format("{:.3g} ({:.3g} to {:.3g})", estimate.mean, *estimate.low, *estimate.high);
}

// Runs that failed or gave no number are missing in the mean.
std::string error_text(const Estimate& error, std::size_t missing) {
  return estimate_text(error) + (missing > 0 ? fmt::format(", {} without", missing) : "");
}

std::string contrast_text(const std::optional<Contrast>& contrast) {
  if (!contrast) return "-";
  return estimate_text(contrast->effect) +
         (contrast->holm ? fmt::format(", p {:.2g}", *contrast->holm) : "");
}

std::string judgement_text(const std::optional<Contrast>& contrast) {
  return contrast ? std::string(name_of(contrast->judgement)) : "-";
}

std::string speed_text(const SideBySide& row) {
  if (row.elsewhere) return "other machine";
  if (!row.gain) return "-";
  if (row.gain->judgement == Judgement::better) return "faster";
  if (row.gain->judgement == Judgement::worse) return "slower";
  return judgement_text(row.gain);
}

JsonValue optional_json(const std::optional<double>& number) {
  return number ? JsonValue(*number) : JsonValue(nullptr);
}

JsonValue estimate_json(const Estimate& estimate) {
  return json_object({{"mean", estimate.count == 0 ? JsonValue(nullptr) : JsonValue(estimate.mean)},
                      {"low", optional_json(estimate.low)},
                      {"high", optional_json(estimate.high)},
                      {"count", estimate.count}});
}

JsonValue contrast_json(const std::optional<Contrast>& contrast) {
  if (!contrast) return nullptr;
  return json_object({{"effect", estimate_json(contrast->effect)},
                      {"p", optional_json(contrast->p)},
                      {"holm", optional_json(contrast->holm)},
                      {"judgement", name_of(contrast->judgement)}});
}

void print_json(const SidesCompared& sides, const Console& console) {
  for (const SideBySide& row : sides.rows)
    console.out << json_line({{"cell", name_of(row.cell)},
                              {"a_error", estimate_json(row.a_error)},
                              {"b_error", estimate_json(row.b_error)},
                              {"a_missing", row.a_missing},
                              {"b_missing", row.b_missing},
                              {"error", contrast_json(row.error)},
                              {"a_step_ms", estimate_json(row.a_step_ms)},
                              {"b_step_ms", estimate_json(row.b_step_ms)},
                              {"gain", contrast_json(row.gain)}});
}

void print_lonely(std::string_view side, const std::vector<Cell>& cells, const Console& console) {
  for (const Cell& cell : cells)
    console.out << fmt::format("only {} has: {}\n", side, name_of(cell));
}

void print_table(const SidesCompared& sides, const Console& console) {
  Table table({{"cell", Align::left},
               {"A error %"},
               {"B error %"},
               {"B - A"},
               {"error", Align::left},
               {"A step ms"},
               {"B step ms"},
               {"A / B"},
               {"time", Align::left}});
  for (const SideBySide& row : sides.rows)
    table.add({name_of(row.cell), error_text(row.a_error, row.a_missing),
               error_text(row.b_error, row.b_missing), contrast_text(row.error),
               judgement_text(row.error), estimate_text(row.a_step_ms),
               estimate_text(row.b_step_ms), contrast_text(row.gain), speed_text(row)});
  if (sides.rows.empty()) {
    console.out << "Both sides have no cell with an error or a time.\n";
    return;
  }
  console.out << table.text()
              << "\nMeans with their 95 % confidence intervals, predictions with their bounds; B "
                 "against A, "
                 "paired by seed\nwhere it can be; p after Holm's correction. same: the interval "
                 "lies within "
                 "what counts as the same\n(--tolerance of errors, 3 % of times); without: runs "
                 "that left no "
                 "error.\n";
  print_lonely("A", sides.only_a, console);
  print_lonely("B", sides.only_b, console);
}

}  // namespace

Action declare_study_compare(Arguments& arguments) {
  auto words = std::make_shared<StudyCompareWords>();
  arguments.word("A", words->a, "Records: a folder, or JSON Lines; a codec with --in");
  arguments.word("B", words->b, "What to compare with them");
  arguments.option("--in RECORDS", words->in, "A and B are codecs of these records");
  arguments.option("--tolerance POINTS", words->tolerance,
                   "Percentage points of error that count as the same [0]");
  arguments.flag("--json", words->json, "JSON Lines, one object for each setting");
  return [words](const Console& console) {
    require(words->tolerance >= 0, Fault::usage, "--tolerance takes a number from 0");
    const SidesCompared sides = compared(*words);
    words->json ? print_json(sides, console) : print_table(sides, console);
  };
}

}  // namespace narrowcast::cli
