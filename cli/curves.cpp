#include "study/curves.hpp"

#include <fmt/core.h>

#include <memory>

#include "base/error.hpp"
#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "cli/table.hpp"

namespace narrowcast::cli {
namespace {

struct CurvesWords {
  std::vector<std::string> files;
  std::string html;
  std::string title = "Narrowcast: training runs";
};

std::string percent(const std::optional<double>& number) {
  return number ? fmt::format("{:.2f} %", *number) : "-";
}

void show(const std::vector<RunRecord>& runs, const Console& console) {
  console.out << curves_text(runs, Measure::test_error) << "\n";
  Table table({{"run", Align::left},
               {"last error"},
               {"best error"},
               {"MB sent"},
               {"MB in fp32"},
               {"saved"},
               {"images/s"},
               {"step ms"},
               {"wait ms"}});
  for (const RunRecord& run : runs) {
    const EpochPoint last = run.epochs.empty() ? EpochPoint{} : run.epochs.back();
    const double sent = run.wire_bytes();
    table.add({run.label, percent(run.last_error()), percent(run.best_error()),
               fmt::format("{:.1f}", sent / 1e6), fmt::format("{:.1f}", run.fp32_bytes() / 1e6),
               sent > 0 ? fmt::format("{:.2f}x", run.fp32_bytes() / sent) : "-",
               fmt::format("{:.0f}", last.images_per_s), fmt::format("{:.2f}", last.step_ms),
               fmt::format("{:.2f}", last.wait_ms)});
  }
  console.out << table.text();
}

}  // namespace

Action declare_curves(Arguments& arguments) {
  auto words = std::make_shared<CurvesWords>();
  arguments.words("FILE", words->files, "JSON Lines that training runs have left");
  arguments.option("--html FILE", words->html, "Write a page, too");
  arguments.option("--title TEXT", words->title, "Of the page");
  return [words](const Console& console) {
    require(!words->files.empty(), Fault::usage, "curves takes the JSON Lines of one run or more");
    std::vector<RunRecord> runs;
    for (const std::string& file : words->files) runs.push_back(read_run(file));
    show(runs, console);
    if (words->html.empty()) return;
    const std::string page = curves_page(runs, words->title);
    write_bytes(words->html, std::as_bytes(std::span(page)), console);
  };
}

}  // namespace narrowcast::cli
