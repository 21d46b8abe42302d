// Writes the pages of a study that nobody ran, for a browser to show.
//
//   sample_report FOLDER
#include <filesystem>
#include <fstream>
#include <iostream>

#include "study/curves.hpp"
#include "study/prediction_page.hpp"
#include "study/report.hpp"
#include "tests/browser/sample_records.hpp"

namespace narrowcast::test {
namespace {

std::vector<RunRecord> sample_runs(const std::vector<CellRecord>& records) {
  std::vector<RunRecord> runs;
  for (const CellRecord& record : records)
    if (record.cell.kind == "train" && record.cell.at("seed") == "1" && runs.size() < 6) {
      RunRecord& run = runs.emplace_back();
      run.label = record.cell.at("codec");
      run.settings = "epochs = 20\n";
      run.epochs = record.epochs;
      for (EpochPoint& point : run.epochs) point.wire_bytes = point.fp32_bytes = 1e7;
    }
  return runs;
}

std::vector<PredictionPoint> sample_points() {
  std::vector<PredictionPoint> points;
  for (int workers = 2; workers <= 64; workers *= 2)
    for (const SampleCodec& codec : sample_codecs()) {
      const double wait = codec.bits * 0.1 * workers;
      points.push_back({.codec = codec.name,
                        .workers = workers,
                        .step = 60 + wait,
                        .low = 50 + wait,
                        .high = 80 + wait,
                        .compute = 60,
                        .wait = wait,
                        .straggling = 1,
                        .speedup = workers * 60 / (60 + wait),
                        .over_fp32 = (60 + 3.2 * workers) / (60 + wait),
                        .megabytes = codec.bits});
    }
  return points;
}

}  // namespace
}  // namespace narrowcast::test

int main(int count, char** words) {
  using namespace narrowcast;
  if (count != 2) {
    std::cerr << "sample_report FOLDER\n";
    return 2;
  }
  const std::filesystem::path folder = words[1];
  std::filesystem::create_directories(folder);
  const Study study{
      .name = "sample",
      .title = "A sample: low precision on links of any speed",
      .about = "Made up: no machine measured any of this.\n\nIt shows what a report has.",
      .cuts = {"ImageNet is predicted, not trained: there is no GPU.",
               "Two seeds <b>only</b> where an epoch takes an hour."},
      .tolerance = 0.2};
  const std::vector<CellRecord> records = test::sample_records();
  for (const ReportFile& file : write_report(study, records))
    std::ofstream(folder / file.name, std::ios::binary) << file.content;
  const auto write = [&](const char* name, const std::string& page) {
    std::ofstream(folder / name, std::ios::binary) << page;
  };
  write("curves.html", curves_page(test::sample_runs(records), "Curves <of runs>"));
  write("prediction.html",
        prediction_page(test::sample_points(), "resnet50 on ethernet-10g", "made up"));
  std::cout << records.size() << " cells\n";
}
