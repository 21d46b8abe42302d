#include "study/records.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>

#include "base/error.hpp"
#include "base/json.hpp"

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
    if (event == "epoch") take_epoch(line);
    if (event == "fault") run_.faults.push_back(text(line, "text"));
    if (event == "summary") {
      run_.seconds = number(line, "seconds");
      run_.replica_hash = text(line, "replica_hash");
    }
  }

  void take_config(const JsonTree& line) {
    run_.net = text(line, "net");
    run_.data = text(line, "data");
    run_.parallel = text(line, "parallel");
    run_.settings = text(line, "settings");
    run_.commit = text(line, "commit");
    run_.link = text(line, "link");
    run_.workers = member(line, "workers").whole;
    run_.seed = member(line, "seed").whole;
  }

  void take_epoch(const JsonTree& line) {
    EpochPoint point = {.epoch = number(line, "epoch"),
                        .train_loss = number(line, "train_loss"),
                        .test_error = std::nullopt,
                        .images_per_s = number(line, "images_per_s"),
                        .step_ms = number(line, "step_ms"),
                        .compute_ms = number(line, "compute_ms"),
                        .wait_ms = number(line, "wait_ms"),
                        .overlap = number(line, "overlap"),
                        .wire_bytes = number(line, "wire_bytes"),
                        .fp32_bytes = number(line, "fp32_bytes")};
    if (member(line, "test_error").kind != JsonKind::null)
      point.test_error = number(line, "test_error");
    // What a restart goes through once more counts as it went the last time.
    std::erase_if(run_.epochs, [&](const EpochPoint& old) { return old.epoch >= point.epoch; });
    run_.epochs.push_back(point);
  }

  const std::filesystem::path& file_;
  std::size_t number_ = 0;
  RunRecord run_;
};

}  // namespace

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
