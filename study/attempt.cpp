#include "study/attempt.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <sstream>

#include "base/checksum.hpp"
#include "base/error.hpp"
#include "base/new_file.hpp"
#include "base/own_file.hpp"
#include "base/quoted.hpp"
#include "plan/printable.hpp"
#include "plan/toml.hpp"
#include "study/kinds/kind.hpp"

namespace narrowcast {

namespace fs = std::filesystem;

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kLongestMessage = 500;

// What this program said in a line, whichever rank it was: "narrowcast: why", "rank 1: narrowcast: why".
std::string_view said_by_us(std::string_view line) {
  constexpr std::string_view kName = "narrowcast: ";
  const std::size_t at = line.find(kName);
  const bool begins = at == 0 || (line.starts_with("rank ") && at != line.npos &&
                                  line.substr(0, at).ends_with(": "));
  return begins ? line.substr(at + kName.size()) : std::string_view();
}

// The first line of this program that is about itself and not about another rank, which may have left because of it;
// or else the first of this program; or else the last one with a letter: launchers add frames and advice of their own.
std::string line_that_matters(const std::string& text) {
  std::string last;
  std::string own;
  std::string hearsay;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find_first_of("\n\r", begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    if (std::ranges::any_of(line, [](unsigned char letter) { return std::isalpha(letter) != 0; }))
      last = line;
    const std::string_view said = said_by_us(line);
    std::string& kept = said.starts_with("rank ") ? hearsay : own;
    if (!said.empty() && kept.empty()) kept = line;
    begin = end + 1;
  }
  if (!own.empty()) return own;
  return hearsay.empty() ? last : hearsay;
}

std::string why(const ProcessEnd& end) {
  const std::string said = line_that_matters(end.errors);
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

// What others use of the machine from now on.
class Load {
 public:
  explicit Load(int cores) : cores_(std::max(1, cores)) {}
  double of_others(double own_seconds) const {
    const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    const double busy = busy_seconds_of_machine() - before_ - own_seconds;
    return std::clamp(busy / (cores_ * std::max(seconds, 1e-3)), 0.0, 1.0);
  }

 private:
  double cores_;
  Clock::time_point start_ = Clock::now();
  double before_ = busy_seconds_of_machine();
};

// How busy others were while a file was made stands beside it, for the cells that share it. One that was made on a
// busy machine is made again.
fs::path note_beside(const std::string& file) { return file + ".others"; }

std::optional<double> quiet_when_made(const std::string& file) {
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return std::nullopt;
  std::istringstream note(read_own_file(note_beside(file)).value_or(""));
  double others = 0;
  return note >> others && others <= kBusy ? std::optional(others) : std::nullopt;
}

void note_others(const std::string& file, double others) {
  const std::string text = fmt::format("{}\n", others);
  NewFile note(note_beside(file).string());
  note.write(std::as_bytes(std::span(text)));
  note.take_name();
}

// Calibrations are of the machine that made them. Unlike machines may have the same name.
std::string folder_of(const CellMachine& machine) {
  const std::string what = fmt::format("{} {}", machine.cores, machine.cpu);
  return fmt::format("{}-{:08x}", machine.name,
                     checksum(std::as_bytes(std::span(what))) & 0xffff'ffffU);
}

class Attempt {
 public:
  Attempt(const AttemptPlace& place, CellRecord& record)
      : place_(place),
        record_(record),
        profiles_((place.folder.profiles() / folder_of(place.options.machine)).string()),
        output_(place.folder.work_file(id_of(record.cell))) {}

  std::optional<int> run() {
    record_.commands.clear();
    const Clock::time_point start = Clock::now();
    try {
      fs::create_directories(profiles_);
      const Kind& kind = kind_of(record_.cell.kind);
      for (const CellCommand& command : kind.commands(record_.cell, {profiles_})) {
        record_.commands.push_back(repeatable(command, profiles_));
        if (const auto interrupted = carry_out(command)) return interrupted;
      }
      record_.seconds = std::chrono::duration<double>(Clock::now() - start).count();
      CellRecord found = record_;
      kind.read(read_text(output_.path()), found);
      found.state = CellState::done;
      found.message.clear();
      record_ = std::move(found);
    } catch (const std::exception& error) {
      record_.seconds = std::chrono::duration<double>(Clock::now() - start).count();
      record_.state = CellState::failed;
      // Launchers may print anything.
      record_.message = printable(std::string_view(error.what()).substr(0, kLongestMessage));
    }
    return std::nullopt;
  }

 private:
  // Sets `others`: of the calibration, where there is one, for what follows is arithmetic.
  std::optional<int> carry_out(const CellCommand& command) {
    const bool calibrates = !command.makes.empty();
    std::optional<double> others = calibrates ? quiet_when_made(command.makes) : std::nullopt;
    if (!others) {
      const Load load(place_.options.machine.cores);
      const ProcessEnd end = start(command);
      if (end.interrupted) return end.interrupted;
      if (end.failed()) throw Error(Fault::peer, why(end));
      others = load.of_others(end.cpu_seconds);
      if (calibrates) note_others(command.makes, *others);
    }
    if (calibrates || !calibrated_) record_.others = *others;
    calibrated_ = calibrated_ || calibrates;
    return std::nullopt;
  }

  ProcessEnd start(const CellCommand& command) const {
    std::vector<std::string> words = command.launcher;
    words.push_back(place_.options.program);
    words.insert(words.end(), command.words.begin(), command.words.end());
    return run_process(
        {.words = words, .output = output_.path(), .deadline = place_.options.deadline},
        place_.signals);
  }

  const AttemptPlace& place_;
  CellRecord& record_;
  std::string profiles_;
  WorkFile output_;
  bool calibrated_ = false;
};

}  // namespace

std::optional<int> attempt(const AttemptPlace& place, CellRecord& record) {
  return Attempt(place, record).run();
}

}  // namespace narrowcast
