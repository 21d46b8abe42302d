#include <fmt/core.h>

#include <memory>

#include "base/error.hpp"
#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "study/folder.hpp"
#include "study/report.hpp"

namespace narrowcast::cli {
namespace {

namespace fs = std::filesystem;

struct StudyReportWords {
  std::string from;
  std::string study;
  std::string output;
};

Study study_of(const StudyReportWords& words) {
  if (!words.study.empty()) return read_study(words.study, StudyUse::read);
  std::error_code ignored;
  const fs::path kept = fs::path(words.from) / "study.toml";
  require(fs::exists(kept, ignored), Fault::usage,
          "records alone do not say what was studied: add --study FILE");
  return read_study(kept, StudyUse::read);
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw Error(Fault::system,
                fmt::format("{} cannot be made: {}", folder.string(), error.message()));
}

void run(const StudyReportWords& words, const Console& console) {
  const std::vector<CellRecord> all = read_records(words.from);
  const Study study = study_of(words);
  const std::vector<CellRecord> records = records_of(study, all);
  fs::path folder = words.output;
  if (folder.empty()) {
    require(fs::is_directory(words.from), Fault::usage, "say with -o DIR where the report goes");
    folder = words.from;
  }
  make_folder(folder);
  const std::vector<ReportFile> files = write_report(study, records);
  for (const ReportFile& file : files)
    write_bytes((folder / file.name).string(), std::as_bytes(std::span(file.content)), console);
  console.out << fmt::format("{} of {} cells have a record: {} and {} other files\n",
                             records.size(), study.cells.size(), (folder / "report.html").string(),
                             files.size() - 1);
  if (all.size() > records.size())
    console.out << fmt::format("{} records of cells that the study does not have are left out\n",
                               all.size() - records.size());
}

}  // namespace

Action declare_study_report(Arguments& arguments) {
  auto words = std::make_shared<StudyReportWords>();
  arguments.word("RECORDS", words->from, "A folder of 'study run', or a file of JSON Lines");
  arguments.option("--study FILE", words->study, "The study's TOML file [that of the folder]");
  arguments.option("-o,--output DIR", words->output, "Where the files go [the folder itself]");
  return [words](const Console& console) { run(*words, console); };
}

}  // namespace narrowcast::cli
