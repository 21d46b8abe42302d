#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "bench/collective_bench.hpp"
#include "cli/bench_collective_job.hpp"

namespace narrowcast::cli {

struct CollectiveRow {
  std::string codec;
  std::string algorithm;
  bench::CollectiveTime time;
  int group = 0;                       // of the hierarchy
  std::optional<double> speedup = {};  // over the yardstick of the same size
};

// Prints what was measured: JSON as it comes, a table when that is over, however it ends.
class CollectiveReport {
 public:
  CollectiveReport(const CollectiveJob& job, const Ranks& ranks, const Console& console);

  // All rows of one size.
  void add(std::vector<CollectiveRow> rows);
  // Stands above the table.
  void remark(const std::string& line) { remarks_ += line + "\n"; }

  // Fault::wire when something was wrong.
  void finish();
  void print_table() const;

 private:
  // What it was measured under.
  std::vector<JsonMember> conditions(const CollectiveRow& row) const;
  std::string as_json(const CollectiveRow& row) const;
  std::string collective_table() const;
  std::string transfer_table() const;

  const CollectiveJob& job_;
  const Ranks& ranks_;
  const Console& console_;
  std::string remarks_;
  std::vector<CollectiveRow> rows_;
};

}  // namespace narrowcast::cli
