#include "cli/bench_collective_report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/json.hpp"
#include "bench/published.hpp"
#include "cli/input.hpp"
#include "cli/table.hpp"

namespace narrowcast::cli {
namespace {

using bench::Collective;
using bench::CollectiveTime;

constexpr std::string_view kEngine = "engine";

constexpr std::string_view kLegend =
    "time: median over the iterations, each as long as its slowest rank took from a barrier to "
    "its\n"
    "own result; of that rank are encode, decode (and add), and wire, which is the rest: sending,\n"
    "receiving, waiting. algbw: size / time; busbw: what links carry of it, as nccl-tests count.\n"
    "wire B: the most bytes that a rank sent; ratio: how many times fewer than fp32 takes by the\n"
    "same algorithm. error: largest |x - exact| / largest |exact|. #wrong: values that differ\n"
    "between ranks, are further off than the codec promises, or in samples are not its very "
    "bits.\n";

constexpr std::string_view kEngineLegend =
    "engine: the transport's own all-reduce of fp32; its bytes are those that a ring needs.\n";

constexpr std::string_view kTransferLegend =
    "N x N matrices of float32 from rank 0 to rank 1. time: median, from the first byte encoded "
    "to\n"
    "the answer of rank 1 that all is decoded; nothing is subtracted. speedup: fp32's time / the\n"
    "codec's. paper: 8 bits against 32 between two GPUs (Dettmers, ICLR 2016).\n";

std::size_t side_of(const CollectiveTime& time) {
  return static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(time.count))));
}

std::string error_text(double error) {
  if (error == 0) return "0";
  return fmt::format("{:.2g}", error);
}

std::string speedup_text(const std::optional<double>& speedup) {
  return speedup ? fmt::format("{:.2f}", *speedup) : "";
}

// Enough digits to compare, few enough to read.
std::string us_text(double us) {
  return us < 100 ? fmt::format("{:.2f}", us) : fmt::format("{:.0f}", us);
}

}  // namespace

CollectiveReport::CollectiveReport(const CollectiveJob& job, const Ranks& ranks,
                                   const Console& console)
    : job_(job), ranks_(ranks), console_(console) {}

void CollectiveReport::add(std::vector<CollectiveRow> rows) {
  const std::string_view yardstick = job_.collective == Collective::transfer ? "fp32" : kEngine;
  const auto first = std::ranges::find(rows, yardstick, &CollectiveRow::codec);
  if (first != rows.end()) {
    const double time = first->time.time_us;
    for (CollectiveRow& row : rows) row.speedup = time / row.time.time_us;
  }
  for (CollectiveRow& row : rows) {
    if (job_.json) console_.out << as_json(row) << std::flush;
    rows_.push_back(std::move(row));
  }
}

// Null is what has no meaning for the row.
std::vector<JsonMember> CollectiveReport::conditions(const CollectiveRow& row) const {
  const bool encodes = row.codec != kEngine;
  const bool adds = encodes && job_.collective == Collective::all_reduce;
  const auto where = [](bool applies, const JsonValue& value) {
    return applies ? value : JsonValue(nullptr);
  };
  return {
      {"sum", where(adds, job_.sum_name())},
      {"self", where(adds, job_.self_name())},
      {"result", where(job_.collective == Collective::all_reduce,
                       job_.how.result == Result::average ? "average" : "sum")},
      {"residuals", where(encodes, job_.residuals == bench::Residuals::on)},
      {"chunk", where(encodes, job_.how.travel.chunk)},
      {"group", where(row.algorithm == "hierarchy", row.group)},
      {"shape", where(ranks_.is_shaped(), ranks_.shape_text())},
      {"sealing", ranks_.sealing()},
  };
}

std::string CollectiveReport::as_json(const CollectiveRow& row) const {
  const CollectiveTime& time = row.time;
  std::vector<JsonMember> line = {
      {"collective", bench::name_of(time.collective)},
      {"algorithm", row.algorithm},
      {"codec", row.codec},
      {"transport", ranks_.transport()},
      {"ranks", time.ranks},
      {"count", time.count},
      {"bytes", time.bytes()},
      {"wire_bytes", time.wire_bytes},
      {"ratio", time.ratio()},
      {"time_us", time.time_us},
      {"algbw", time.algorithm_bandwidth()},
      {"busbw", time.bus_bandwidth()},
      {"wrong", time.wrong},
      {"encode_us", time.encode_us},
      {"wire_us", time.wire_us},
      {"decode_us", time.decode_us},
      {"max_error", time.max_error},
      {"least_us", time.least_us},
      {"mean_us", time.mean_us},
      {"iterations", job_.iterations},
      {"threads", job_.threads},
      {"seed", job_.seed},
  };
  for (JsonMember& member : conditions(row)) line.push_back(std::move(member));
  if (time.collective == Collective::transfer) line.push_back({"side", side_of(time)});
  if (row.speedup) line.push_back({"speedup", *row.speedup});
  return json_line(line);
}

std::string CollectiveReport::collective_table() const {
  const bool reduces = job_.collective == Collective::all_reduce;
  std::vector<Column> columns = {
      {"size B"}, {"count"}, {"type", Align::left}, {"codec", Align::left}};
  if (reduces) columns.push_back({"algorithm", Align::left});
  for (const std::string_view title : {"time us", "algbw GB/s", "busbw GB/s", "#wrong", "wire B",
                                       "ratio", "encode us", "wire us", "decode us", "error"})
    columns.push_back({title});
  if (job_.has_engine()) columns.push_back({"x engine"});
  Table table(columns);
  for (const CollectiveRow& row : rows_) {
    const CollectiveTime& time = row.time;
    std::vector<std::string> cells = {std::to_string(time.bytes()), std::to_string(time.count),
                                      "float", row.codec};
    if (reduces) cells.push_back(row.algorithm);
    for (std::string cell :
         {us_text(time.time_us), fmt::format("{:.3f}", time.algorithm_bandwidth()),
          fmt::format("{:.3f}", time.bus_bandwidth()), std::to_string(time.wrong),
          std::to_string(time.wire_bytes), fmt::format("{:.2f}", time.ratio()),
          us_text(time.encode_us), us_text(time.wire_us), us_text(time.decode_us),
          error_text(time.max_error)})
      cells.push_back(std::move(cell));
    if (job_.has_engine()) cells.push_back(speedup_text(row.speedup));
    table.add(std::move(cells));
  }
  return table.text();
}

std::string CollectiveReport::transfer_table() const {
  Table table({{"size B"},
               {"N"},
               {"codec", Align::left},
               {"time us"},
               {"fp32 us"},
               {"speedup"},
               {"paper"},
               {"wire B"},
               {"ratio"},
               {"#wrong"},
               {"error"}});
  for (const CollectiveRow& row : rows_) {
    const CollectiveTime& time = row.time;
    const std::optional<double> paper = bench::published_transfer_speedup(side_of(time));
    table.add({std::to_string(time.bytes()), std::to_string(side_of(time)), row.codec,
               us_text(time.time_us), row.speedup ? us_text(time.time_us * *row.speedup) : "",
               speedup_text(row.speedup), row.codec == "fp32" ? "" : speedup_text(paper),
               std::to_string(time.wire_bytes), fmt::format("{:.2f}", time.ratio()),
               std::to_string(time.wrong), error_text(time.max_error)});
  }
  return table.text();
}

void CollectiveReport::print_table() const {
  if (job_.json || rows_.empty()) return;
  const bool transfers = job_.collective == Collective::transfer;
  console_.out << fmt::format("{} over {}, {} rank{}, {} iteration{} after {}, {} thread{} each\n",
                              bench::name_of(job_.collective), ranks_.transport(), ranks_.size(),
                              ranks_.size() == 1 ? "" : "s", job_.iterations,
                              job_.iterations == 1 ? "" : "s", job_.warm_up, job_.threads,
                              job_.threads == 1 ? "" : "s")
               << remarks_ << "\n"
               << (transfers ? transfer_table() : collective_table()) << "\n"
               << (transfers ? kTransferLegend : kLegend)
               << (job_.has_engine() ? kEngineLegend : "") << std::flush;
}

void CollectiveReport::finish() {
  print_table();
  std::uint64_t wrong = 0;
  for (const CollectiveRow& row : rows_) wrong += row.time.wrong;
  if (wrong != 0)
    throw Error(Fault::wire,
                fmt::format("{} value{} came out wrong", wrong, wrong == 1 ? "" : "s"));
}

}  // namespace narrowcast::cli
