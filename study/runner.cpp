#include "study/runner.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <fstream>
#include <random>

#include "base/error.hpp"
#include "base/quoted.hpp"
#include "base/version.hpp"
#include "plan/toml.hpp"
#include "study/kinds/kind.hpp"
#include "study/process.hpp"

namespace narrowcast {

namespace fs = std::filesystem;

namespace {

using Clock = std::chrono::steady_clock;
constexpr int kTries = 2;

std::string now_text() {
  const std::time_t now = std::time(nullptr);
  std::tm utc = {};
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// The last line that says something: programs of ours end with the one that matters.
std::string last_line(const std::string& text) {
  const std::size_t end = text.find_last_not_of(" \n\r");
  if (end == std::string::npos) return "";
  const std::size_t before = text.find_last_of("\n\r", end);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  return text.substr(begin, end + 1 - begin);
}

std::string why(const ProcessEnd& end) {
  const std::string said = last_line(end.errors);
  if (end.late) return "it took longer than its deadline";
  if (end.signal)
    return fmt::format("it died of signal {}{}{}", *end.signal, said.empty() ? "" : ": ", said);
  return said.empty() ? fmt::format("it ended with exit code {}", end.code) : said;
}

// A name that comes back the same everywhere: no folders of this machine.
std::string repeatable(const CellCommand& command, const std::string& profiles) {
  std::vector<std::string> words = command.launcher;
  words.emplace_back("narrowcast");
  for (const std::string& word : command.words)
    words.push_back(word.starts_with(profiles) ? fs::path(word).filename().string() : word);
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + quoted(word);
  return text;
}

// Removes what a cell left under work/.
class WorkFile {
 public:
  explicit WorkFile(fs::path path) : path_(std::move(path)) {}
  ~WorkFile() {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }
  WorkFile(const WorkFile&) = delete;
  WorkFile& operator=(const WorkFile&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

class Runner {
 public:
  Runner(const Study& study, StudyFolder& folder, const RunOptions& options, RunWatcher& watcher)
      : study_(study), folder_(folder), options_(options), watcher_(watcher) {}

  RunResult run() {
    for (const CellRecord& record : folder_.records()) learn(record);
    const std::vector<Cell> cells = wanted();
    news_.all = cells.size();
    for (const Cell& cell : cells)
      if (folder_.has(id_of(cell))) ++result_.before;
    news_.done = result_.before;
    for (const Cell& cell : cells) {
      if (is_over()) break;
      take(cell, cells);
    }
    for (const Cell& cell : cells)
      if (!folder_.has(id_of(cell))) ++result_.elsewhere;
    return result_;
  }

 private:
  std::vector<Cell> wanted() const {
    std::vector<Cell> cells;
    for (const Cell& cell : study_.cells)
      if (options_.only.empty() ||
          std::ranges::find(options_.only, cell.kind) != options_.only.end())
        cells.push_back(cell);
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
    news_.seconds_left = seconds_left(cells);
    watcher_.begins(cell, news_);
    CellRecord record = begun(cell);
    for (record.tries = 1; record.tries <= kTries; ++record.tries) {
      if (attempt(cell, record)) break;
      if (result_.interrupted) return;
    }
    record.tries = std::min(record.tries, kTries);
    folder_.add(record);
    learn(record);
    ++result_.done;
    ++news_.done;
    if (record.state == CellState::failed) ++result_.failed;
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

  // True when it need not be tried again.
  bool attempt(const Cell& cell, CellRecord& record) {
    const Kind& kind = kind_of(cell.kind);
    const WorkFile output(folder_.work_file(id_of(cell)));
    const Clock::time_point start = Clock::now();
    const double busy = busy_seconds_of_machine();
    double own = 0;
    CellRecord result = record;
    result.commands.clear();
    const std::string profiles = folder_.profiles().string();
    for (const CellCommand& command : kind.commands(cell, {profiles})) {
      result.commands.push_back(repeatable(command, profiles));
      if (!command.makes.empty() && fs::exists(command.makes)) continue;
      const ProcessEnd end = carry_out(command, output.path());
      own += end.cpu_seconds;
      if (end.interrupted) {
        result_.interrupted = end.interrupted;
        return false;
      }
      if (end.failed()) {
        failed(record, result, why(end));
        return false;
      }
    }
    result.seconds = seconds_since(start);
    const double cores = std::max(1, options_.machine.cores);
    result.others = std::clamp(
        (busy_seconds_of_machine() - busy - own) / (cores * std::max(result.seconds, 1e-3)), 0.0,
        1.0);
    try {
      kind.read(read_text(output.path()), result);
    } catch (const Error& error) {
      failed(record, result, error.what());
      return false;
    }
    result.state = CellState::done;
    result.message.clear();
    record = std::move(result);
    return true;
  }

  static void failed(CellRecord& record, const CellRecord& tried, std::string message) {
    record.state = CellState::failed;
    record.message = std::move(message);
    record.commands = tried.commands;
  }

  ProcessEnd carry_out(const CellCommand& command, const fs::path& output) const {
    std::vector<std::string> words = command.launcher;
    words.push_back(options_.program);
    words.insert(words.end(), command.words.begin(), command.words.end());
    return run_process({.words = words, .output = output, .deadline = options_.deadline}, signals_);
  }

  // What cells of one kind and network take is alike, whatever the codec.
  static std::string class_of(const Cell& cell) {
    return fmt::format("{} {} {} {} {}", cell.kind, cell.at("net"), cell.at("data"),
                       cell.at("parallel"), cell.at("link"));
  }

  void learn(const CellRecord& record) {
    if (record.state != CellState::done) return;
    auto& [sum, count] = times_[class_of(record.cell)];
    sum += record.seconds;
    ++count;
    total_.first += record.seconds;
    ++total_.second;
  }

  std::optional<double> seconds_left(const std::vector<Cell>& cells) const {
    if (total_.second == 0) return std::nullopt;
    double left = 0;
    for (const Cell& cell : cells) {
      if (folder_.has(id_of(cell))) continue;
      const auto known = times_.find(class_of(cell));
      const auto& [sum, count] = known == times_.end() ? total_ : known->second;
      left += sum / count;
    }
    return left;
  }

  const Study& study_;
  StudyFolder& folder_;
  const RunOptions& options_;
  RunWatcher& watcher_;
  StopSignals signals_;
  RunNews news_;
  RunResult result_;
  std::map<std::string, std::pair<double, int>> times_;
  std::pair<double, int> total_ = {};
};

}  // namespace

RunResult run_study(const Study& study, StudyFolder& folder, const RunOptions& options,
                    RunWatcher& watcher) {
  return Runner(study, folder, options, watcher).run();
}

}  // namespace narrowcast
