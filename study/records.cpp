#include "study/records.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/version.hpp"

namespace narrowcast {
namespace {

class Reader {
 public:
  explicit Reader(const std::filesystem::path& file) : file_(file) {}

  RunRecord read() {
    std::ifstream in(file_);
    if (!in)
      throw Error(Fault::system,
                  fmt::format("{} cannot be read: {}", file_.string(), std::strerror(errno)));
    run_.label = file_.stem().string();
    for (std::string line; std::getline(in, line);) {
      ++number_;
      if (line.empty()) continue;
      // Only a line with its end is one that was written to the end.
      if (in.eof()) break;
      take(parse(line));
    }
    if (run_.net.empty()) bad("has no line with \"event\":\"config\"");
    return std::move(run_);
  }

 private:
  [[noreturn]] void bad(const std::string& what) const {
    throw Error(Fault::wire, fmt::format("{}:{}: {}", file_.string(), number_, what));
  }

  JsonTree parse(const std::string& line) const {
    try {
      return parse_json(line);
    } catch (const Error& error) {
      bad(error.what());
    }
  }

  const JsonTree& member(const JsonTree& object, std::string_view key) const {
    const JsonTree* found = object.find(key);
    if (found == nullptr) bad(fmt::format("has no \"{}\"", key));
    return *found;
  }

  double number(const JsonTree& object, std::string_view key) const {
    const JsonTree& value = member(object, key);
    // A loss that is not finite is null.
    if (value.kind != JsonKind::whole && value.kind != JsonKind::real &&
        value.kind != JsonKind::null)
      bad(fmt::format("\"{}\" is no number", key));
    return value.kind == JsonKind::null ? std::numeric_limits<double>::quiet_NaN() : value.number;
  }

  std::string text(const JsonTree& object, std::string_view key) const {
    const JsonTree& value = member(object, key);
    if (value.kind != JsonKind::text) bad(fmt::format("\"{}\" is no text", key));
    return value.text;
  }

  void take(const JsonTree& line) {
    const std::string event = text(line, "event");
    if (event == "config") take_config(line);
    if (event == "epoch") add_epoch(run_.epochs, epoch_of(line));
    if (event == "fault") run_.faults.push_back(text(line, "text"));
    if (event == "summary") {
      run_.seconds = number(line, "seconds");
      run_.replica_hash = text(line, "replica_hash");
    }
  }

  EpochPoint epoch_of(const JsonTree& line) const {
    try {
      return epoch_of_json(line);
    } catch (const Error& error) {
      bad(error.what());
    }
  }

  void take_config(const JsonTree& line) {
    try {
      check_format(line);
    } catch (const Error& error) {
      bad(error.what());
    }
    run_.net = text(line, "net");
    run_.data = text(line, "data");
    run_.parallel = text(line, "parallel");
    run_.settings = text(line, "settings");
    run_.commit = text(line, "commit");
    run_.link = text(line, "link");
    run_.workers = member(line, "workers").whole;
    run_.seed = member(line, "seed").whole;
  }

  const std::filesystem::path& file_;
  std::size_t number_ = 0;
  RunRecord run_;
};

}  // namespace

void check_format(const JsonTree& line) {
  const JsonTree* found = line.find(kFormatKey);
  if (found == nullptr) return;
  if (found->kind != JsonKind::whole || found->whole != kRecordFormat)
    throw Error(
        Fault::wire,
        fmt::format("this is of format {}; narrowcast {} reads format {}",
                    found->kind == JsonKind::whole ? std::to_string(found->whole) : "unknown",
                    version(), kRecordFormat));
}

double RunRecord::wire_bytes() const {
  double sum = 0;
  for (const EpochPoint& point : epochs) sum += point.wire_bytes;
  return sum;
}

double RunRecord::fp32_bytes() const {
  double sum = 0;
  for (const EpochPoint& point : epochs) sum += point.fp32_bytes;
  return sum;
}

std::optional<double> RunRecord::last_error() const {
  return epochs.empty() ? std::nullopt : epochs.back().test_error;
}

std::optional<double> RunRecord::best_error() const {
  std::optional<double> best;
  for (const EpochPoint& point : epochs)
    if (point.test_error) best = std::min(best.value_or(*point.test_error), *point.test_error);
  return best;
}

RunRecord read_run(const std::filesystem::path& file) { return Reader(file).read(); }

}  // namespace narrowcast
