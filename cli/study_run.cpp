#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <set>

#include "base/error.hpp"
#include "base/new_file.hpp"
#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/ranks.hpp"
#include "cli/study_machine.hpp"
#include "plan/printable.hpp"
#include "plan/toml.hpp"
#include "plan/values.hpp"
#include "run/trainer.hpp"
#include "study/runner.hpp"
#include "transport/module.hpp"

namespace narrowcast::cli {
namespace {

constexpr int kSomeFailed = 1;

struct StudyRunWords {
  std::string file;
  std::string folder;
  std::vector<std::string> from;
  std::vector<std::string> only;
  std::string most;
  double hours = 12;
  bool retry = false;
  bool retry_busy = false;
  bool check = false;
};

std::string time_text(double seconds) {
  const auto whole = static_cast<long>(seconds);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min", (whole + 30) / 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

std::string left_text(const RunNews& news) {
  return news.seconds_left ? ", " + time_text(*news.seconds_left) + " left" : "";
}

std::string result_text(const CellRecord& record) {
  if (record.state == CellState::failed) return "FAILED: " + record.message;
  if (const auto error = record.value("last_error"))
    return fmt::format("error {:.2f} %, step {:.2f} ms", *error,
                       record.value("step_ms").value_or(0));
  if (const auto step = record.value("step_ms")) return fmt::format("step {:.2f} ms", *step);
  if (const auto time = record.value("time_us")) return fmt::format("{:.1f} us", *time);
  return fmt::format("{} rows", record.rows.size());
}

// A line for each cell; on a terminal also one that says what is under way.
class Teller final : public RunWatcher {
 public:
  explicit Teller(const Console& console) : console_(console) {}

  void begins(const Cell& cell, const RunNews& news) override {
    if (!console_.terminals.err) return;
    console_.err << fmt::format("\r\x1b[K[{}/{}{}] {}", news.done + 1, news.all, left_text(news),
                                name_of(cell))
                 << std::flush;
  }

  void ended(const CellRecord& record, const RunNews& news) override {
    if (console_.terminals.err) console_.err << "\r\x1b[K" << std::flush;
    console_.out << fmt::format("[{}/{}{}] {}: {} ({})\n", news.done, news.all, left_text(news),
                                name_of(record.cell), result_text(record),
                                time_text(record.seconds))
                 << std::flush;
  }

 private:
  const Console& console_;
};

// With its name, which is otherwise that of the file it came from. The mark that editors of other systems begin a file
// with is one at its very beginning alone.
void keep_study(std::string text, const Study& study, const StudyFolder& folder) {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  if (text.starts_with(kMark)) text.erase(0, kMark.size());
  const bool named = std::ranges::count(parse_toml(text, "").keys, "name") > 0;
  const std::string kept = named ? text : fmt::format("name = {}\n{}", in_quotes(study.name), text);
  NewFile file(folder.study_file().string());
  file.write(std::as_bytes(std::span(kept)));
  file.take_name();
}

// A folder is one study's, also when its file has changed; records of another are there to be taken over.
void require_own(const Study& study, const StudyRunWords& words) {
  const std::filesystem::path kept = std::filesystem::path(words.folder) / "study.toml";
  std::error_code ignored;
  if (!std::filesystem::exists(kept, ignored)) return;
  const TomlTree tree = parse_toml(read_text(kept), kept.string());
  const auto at = std::ranges::find(tree.keys, "name");
  if (at == tree.keys.end()) return;
  const std::string& name = tree.items[static_cast<std::size_t>(at - tree.keys.begin())].text;
  if (name != study.name)
    throw Error(Fault::usage,
                fmt::format("{0} is the folder of study '{1}', not of '{2}': choose another one, "
                            "with --from {0} to take over records of the same cells",
                            words.folder, name, study.name));
}

void require_kinds(const Study& study, const StudyRunWords& words) {
  for (const std::string& kind : words.only)
    if (std::ranges::find(study.cells, kind, &Cell::kind) == study.cells.end())
      throw Error(Fault::usage, fmt::format("no cell of the study is of kind '{}'", kind));
}

// What a training run learns is the same on a busy machine.
bool is_wanted_again(const CellRecord& record, const StudyRunWords& words) {
  if (record.state == CellState::failed) return words.retry;
  constexpr std::array<std::string_view, 3> kTimed{"speed", "transfer", "predict"};
  return words.retry_busy && !times_count(record) &&
         std::ranges::find(kTimed, record.cell.kind) != kTimed.end();
}

// All that is to happen, before any of it does.
struct Undertaking {
  std::vector<CellRecord> again = {};  // that the folder has
  std::vector<CellRecord> taken = {};  // over, from elsewhere
  std::vector<Cell> left = {};
};

std::vector<CellRecord> records_there(const StudyRunWords& words) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(std::filesystem::path(words.folder) / "cells", ignored))
    return {};
  return read_records(words.folder);
}

Undertaking undertaking(const StudyRunWords& words, const Study& study) {
  Undertaking all;
  std::set<std::string> had;
  for (CellRecord& record : records_there(words))
    if (is_of(words.only, record.cell) && is_wanted_again(record, words))
      all.again.push_back(std::move(record));
    else
      had.insert(id_of(record.cell));
  std::set<std::string> ids;
  for (const Cell& cell : study.cells) ids.insert(id_of(cell));
  for (const std::string& from : words.from)
    for (CellRecord& record : read_records(from)) {
      const std::string id = id_of(record.cell);
      // What failed there may succeed here.
      if (record.state == CellState::done && ids.contains(id) && had.insert(id).second)
        all.taken.push_back(std::move(record));
    }
  for (const Cell& cell : study.cells)
    if (is_of(words.only, cell) && !had.contains(id_of(cell))) all.left.push_back(cell);
  return all;
}

void prepare(StudyFolder& folder, const Undertaking& all) {
  for (const CellRecord& record : all.again) folder.want_again(record);
  for (const CellRecord& record : all.taken)
    if (!folder.has(id_of(record.cell))) folder.add(record);
}

void announce(const Study& study, const Undertaking& all, std::string_view taken,
              const Console& console) {
  console.out << fmt::format("{}: {} cell{}", printable(study.title), study.cells.size(),
                             study.cells.size() == 1 ? "" : "s");
  if (!all.taken.empty()) console.out << fmt::format(", {} records {}", all.taken.size(), taken);
  console.out << "\n" << std::flush;
}

std::size_t failures(const RunResult& result) { return result.failed + result.failed_before; }

void tell(const RunResult& result, const StudyRunWords& words, const Console& console) {
  console.out << fmt::format("{} cell{} done now, {} of them failed; {} were there before",
                             result.done, result.done == 1 ? "" : "s", result.failed,
                             result.before);
  if (result.failed_before > 0) console.out << fmt::format(", {} as failed", result.failed_before);
  const std::string_view end = failures(result) > 0 ? "have a record" : "are done";
  if (result.elsewhere > 0)
    console.out << fmt::format("; {} are left or others are at work on them", result.elsewhere);
  else if (words.only.empty())
    console.out << fmt::format("; all {}", end);
  else
    console.out << fmt::format("; all of kind {} {}", fmt::join(words.only, " or "), end);
  if (failures(result) > 0) console.out << "\nwhat failed is done again with --retry";
  console.out << fmt::format("\nnext: narrowcast study report {}\n", words.folder) << std::flush;
}

std::size_t count_of_most(const std::string& text) {
  std::size_t most = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, most);
  if (error != std::errc{} || stop != end || most == 0)
    throw Error(Fault::usage, "--most takes a number of cells from 1 on, not '" + text + "'");
  return most;
}

void run(const StudyRunWords& words, const Console& console) {
  const Study study = read_study(words.file, StudyUse::run);
  require_own(study, words);
  require_kinds(study, words);
  RunOptions options{.only = words.only,
                     .deadline = std::chrono::milliseconds(static_cast<long>(words.hours * 3.6e6)),
                     .machine = cell_machine()};
  if (!words.most.empty()) options.most = count_of_most(words.most);
  const Undertaking all = undertaking(words, study);
  check_surroundings(all.left, words.folder);
  if (words.check) return announce(study, all, "to take over", console);
  StudyFolder folder(words.folder);
  prepare(folder, all);
  keep_study(read_text(words.file), study, folder);
  announce(study, all, "taken over", console);
  Teller teller(console);
  const RunResult result = run_study(study, folder, options, teller);
  tell(result, words, console);
  if (result.interrupted) throw JobEnded{128 + *result.interrupted};
  // The study went on and all else is there; a script that waits for it should not take that for all well.
  if (failures(result) > 0) throw JobEnded{kSomeFailed};
}

}  // namespace

Action declare_study_run(Arguments& arguments) {
  auto words = std::make_shared<StudyRunWords>();
  arguments.word("STUDY", words->file, "The study's TOML file, see docs/study.md");
  arguments.option("-o,--output DIR", words->folder,
                   "Where records are kept; a run that was stopped goes on there");
  arguments.option("--from RECORDS", words->from,
                   "Take over records of the same cells: a folder, or a file of JSON Lines; may be "
                   "given again");
  arguments.option("--only KIND", words->only, "Only cells of that kind; may be given again");
  arguments.option("--most N", words->most, "Stop after so many cells");
  arguments.option("--hours H", words->hours, "The most that one command may take [12]");
  arguments.flag("--retry", words->retry, "Do cells again that failed earlier");
  arguments.flag("--retry-busy", words->retry_busy,
                 "Do cells again whose times do not count because other programs were at work");
  arguments.flag("--check", words->check, "Look at everything that can be known before, and stop");
  return [words](const Console& console) {
    // Also a study of which no cell trains: half of a report would be missing there.
    if (in_python_package()) require_trainer();
    require(!words->folder.empty(), Fault::usage, "study run needs -o DIR, to keep records in");
    require(words->hours > 0 && words->hours <= 1000, Fault::usage, "--hours takes up to 1000");
    run(*words, console);
  };
}

}  // namespace narrowcast::cli
