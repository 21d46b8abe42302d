#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "base/error.hpp"
#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/table.hpp"
#include "plan/printable.hpp"
#include "study/folder.hpp"
#include "study/study.hpp"

namespace narrowcast::cli {
namespace {

struct StudyListWords {
  std::string from;
  std::string kind;
  bool json = false;
};

std::string number(const CellRecord& record, std::string_view name, int digits) {
  const auto value = record.value(name);
  return value ? fmt::format("{:.{}f}", *value, digits) : "";
}

void print_table(const std::vector<CellRecord>& records, const Console& console) {
  Table table({{"cell", Align::left},
               {"state", Align::left},
               {"tries"},
               {"error %"},
               {"step ms"},
               {"seconds"},
               {"others %"},
               {"message", Align::left}});
  for (const CellRecord& record : records)
    table.add({name_of(record.cell), record.state == CellState::done ? "done" : "failed",
               std::to_string(record.tries), number(record, "last_error", 2),
               number(record, "step_ms", 2), fmt::format("{:.1f}", record.seconds),
               fmt::format("{:.0f}", 100 * record.others), printable(record.message)});
  console.out << table.text()
              << "\nothers: the part of the machine's cores that other programs used meanwhile; "
                 "above 15 % the times that a cell measured are not used\n";
}

// Of a folder; a file of records has none.
std::optional<Study> study_of(const StudyListWords& words) {
  const std::filesystem::path file = std::filesystem::path(words.from) / "study.toml";
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return std::nullopt;
  return read_study(file, StudyUse::read);
}

void run(const StudyListWords& words, const Console& console) {
  std::vector<CellRecord> records = read_records(words.from);
  const std::optional<Study> study = study_of(words);
  if (study) records = records_of(*study, std::move(records));
  const std::size_t all = records.size();
  if (!words.kind.empty()) {
    if (std::ranges::none_of(records,
                             [&](const CellRecord& each) { return each.cell.kind == words.kind; }))
      throw Error(Fault::usage, fmt::format("no record is of kind '{}'", words.kind));
    std::erase_if(records, [&](const CellRecord& each) { return each.cell.kind != words.kind; });
  }
  if (words.json) {
    for (const CellRecord& record : records) console.out << to_json(record);
    return;
  }
  print_table(records, console);
  if (study) console.out << fmt::format("{} of {} cells have a record\n", all, study->cells.size());
}

}  // namespace

Action declare_study_list(Arguments& arguments) {
  auto words = std::make_shared<StudyListWords>();
  arguments.word("RECORDS", words->from, "A folder of 'study run', or a file of JSON Lines");
  arguments.option("--kind KIND", words->kind, "Only cells of that kind");
  arguments.flag("--json", words->json, "The records themselves, as JSON Lines");
  return [words](const Console& console) { run(*words, console); };
}

}  // namespace narrowcast::cli
