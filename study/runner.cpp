#include "study/runner.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <ctime>
#include <random>

#include "base/error.hpp"
#include "base/version.hpp"
#include "study/attempt.hpp"

namespace narrowcast {

namespace {

constexpr int kTries = 2;

std::string now_text() {
  const std::time_t now = std::time(nullptr);
  std::tm utc = {};
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

class Runner {
 public:
  Runner(const Study& study, StudyFolder& folder, const RunOptions& options, RunWatcher& watcher)
      : study_(study), folder_(folder), options_(options), watcher_(watcher) {}

  RunResult run() {
    const std::vector<Cell> cells = wanted();
    for (const CellRecord& record : folder_.records()) {
      learn(record);
      if (is_failure_of(cells, record)) ++result_.failed_before;
    }
    news_.all = cells.size();
    news_.done = result_.before = count_done(cells);
    for (const Cell& cell : cells) {
      if (is_over()) break;
      take(cell, cells);
    }
    result_.elsewhere = cells.size() - count_done(cells);
    return result_;
  }

 private:
  // By this process and by others.
  std::size_t count_done(std::span<const Cell> cells) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        cells, [this](const Cell& cell) { return folder_.has(id_of(cell)); }));
  }

  // Not one that is to be done again.
  bool is_failure_of(std::span<const Cell> cells, const CellRecord& record) const {
    const std::string id = id_of(record.cell);
    return record.state == CellState::failed && folder_.has(id) &&
           std::ranges::any_of(cells, [&](const Cell& cell) { return id_of(cell) == id; });
  }

  std::vector<Cell> wanted() const {
    std::vector<Cell> cells;
    for (const Cell& cell : study_.cells)
      if (is_of(options_.only, cell)) cells.push_back(cell);
    require(!cells.empty(), Fault::usage, "no cell of the study is of that kind");
    if (study_.order == CellOrder::random) {
      std::mt19937_64 dice(cells.size());
      std::ranges::shuffle(cells, dice);
    }
    return cells;
  }

  bool is_over() const {
    return result_.interrupted || (options_.most != 0 && result_.done >= options_.most);
  }

  void take(const Cell& cell, const std::vector<Cell>& cells) {
    result_.interrupted = signals_.next();
    if (result_.interrupted) return;
    const std::string id = id_of(cell);
    if (folder_.has(id)) return;
    const std::unique_ptr<Claim> claim = folder_.claim(id);
    if (claim == nullptr) return;
    news_.done = count_done(cells);
    news_.seconds_left = seconds_left(cells);
    watcher_.begins(cell, news_);
    CellRecord record = begun(cell);
    for (record.tries = 1;; ++record.tries) {
      result_.interrupted = attempt({folder_, options_, signals_}, record);
      if (result_.interrupted) return;
      if (record.state == CellState::done || record.tries == kTries) break;
    }
    // On a full disk the others would fail as well, and none of them for a reason of its own: they are still to be done.
    if (record.state == CellState::failed) check_room(folder_.path());
    folder_.add(record);
    learn(record);
    ++result_.done;
    if (record.state == CellState::failed) ++result_.failed;
    news_.done = count_done(cells);
    news_.seconds_left = seconds_left(cells);
    watcher_.ended(record, news_);
  }

  CellRecord begun(const Cell& cell) const {
    return {.study = study_.name,
            .cell = cell,
            .version = std::string(version()),
            .commit = std::string(commit()),
            .machine = options_.machine,
            .started = now_text()};
  }

  // What cells of one kind and network take is alike, whatever the codec.
  static std::string class_of(const Cell& cell) {
    return fmt::format("{} {} {} {} {} {}", cell.kind, cell.at("net"), cell.at("data"),
                       cell.at("parallel"), cell.at("link"), cell.at("profile"));
  }

  void learn(const CellRecord& record) {
    if (record.state != CellState::done) return;
    for (const std::string& name : {class_of(record.cell), record.cell.kind, std::string()}) {
      auto& [sum, count] = times_[name];
      sum += record.seconds;
      ++count;
    }
  }

  // As others of its class took, or else of its kind, or else of all; arithmetic takes next to nothing.
  double expected(const Cell& cell) const {
    for (const std::string& name : {class_of(cell), cell.kind, std::string()})
      if (const auto known = times_.find(name); known != times_.end())
        if (!name.empty() || !is_quick(cell)) return known->second.first / known->second.second;
    return 0;
  }

  static bool is_quick(const Cell& cell) {
    return is_computed(cell) || cell.kind == "errors" || cell.kind == "paper";
  }

  std::optional<double> seconds_left(const std::vector<Cell>& cells) const {
    if (times_.empty()) return std::nullopt;
    double left = 0;
    for (const Cell& cell : cells)
      if (!folder_.has(id_of(cell))) left += expected(cell);
    return left;
  }

  const Study& study_;
  StudyFolder& folder_;
  const RunOptions& options_;
  RunWatcher& watcher_;
  StopSignals signals_;
  RunNews news_;
  RunResult result_;
  // Sum and count of seconds, by class, by kind, and of all ("").
  std::map<std::string, std::pair<double, int>> times_;
};

}  // namespace

bool is_of(std::span<const std::string> kinds, const Cell& cell) {
  return kinds.empty() || std::ranges::find(kinds, cell.kind) != kinds.end();
}

RunResult run_study(const Study& study, StudyFolder& folder, const RunOptions& options,
                    RunWatcher& watcher) {
  return Runner(study, folder, options, watcher).run();
}

}  // namespace narrowcast
