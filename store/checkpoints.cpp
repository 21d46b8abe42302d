#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "base/error.hpp"
#include "base/new_file.hpp"
#include "store/format/read.hpp"
#include "store/store.hpp"

namespace narrowcast {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "checkpoint-";

std::string name_of(std::uint64_t step) {
  return fmt::format("{}{:012}.safetensors", kPrefix, step);
}

// Nothing for every name that is not exactly one of ours.
std::optional<std::uint64_t> step_of(const std::string& name) {
  if (!name.starts_with(kPrefix)) return std::nullopt;
  std::uint64_t step = 0;
  const auto parsed =
      std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), step);
  if (parsed.ec != std::errc{} || name != name_of(step)) return std::nullopt;
  return step;
}

[[noreturn]] void cannot_use(const fs::path& folder, const std::error_code& why) {
  throw Error(Fault::system,
              fmt::format("cannot use folder '{}': {}", folder.string(), why.message()));
}

// The newest first.
std::vector<std::uint64_t> steps_in(const fs::path& folder) {
  std::error_code failed;
  std::vector<std::uint64_t> steps;
  for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end;
       entry.increment(failed))
    if (const auto step = step_of(entry->path().filename().string())) steps.push_back(*step);
  if (failed) cannot_use(folder, failed);
  std::sort(steps.rbegin(), steps.rend());
  return steps;
}

}  // namespace

Checkpoints::Checkpoints(fs::path folder, int keep) : folder_(std::move(folder)), keep_(keep) {
  require(keep >= 1, Fault::usage, "at least one checkpoint must be kept");
  std::error_code failed;
  fs::create_directories(folder_, failed);
  if (failed) cannot_use(folder_, failed);
  remove_abandoned_files(folder_);
  const NewFile trial((folder_ / name_of(0)).string());
}

void Checkpoints::save(std::uint64_t step, const Snapshot& snapshot) const {
  write_snapshot(folder_ / name_of(step), snapshot);
  remove_abandoned_files(folder_);
  int newer = 0;
  for (const std::uint64_t other : steps_in(folder_)) {
    // Later ones were there before the run went back to this step: damaged, or of another number of
    // workers, whose steps are other ones. Whoever resumes now must not find them.
    if (other <= step && ++newer <= keep_) continue;
    std::error_code ignored;  // the checkpoint that matters is safe
    fs::remove(folder_ / name_of(other), ignored);
  }
}

std::optional<Checkpoints::Found> Checkpoints::latest() const {
  const std::vector<std::uint64_t> steps = steps_in(folder_);
  Found found;
  for (const std::uint64_t step : steps) {
    found.step = step;
    found.file = folder_ / name_of(step);
    try {
      found.snapshot = format::read_file(found.file, format::Foreign::refused);
      return found;
    } catch (const Error& error) {
      found.refused.emplace_back(error.what());
    }
  }
  if (steps.empty()) return std::nullopt;
  throw Error(Fault::wire, fmt::format("none of the {} checkpoints in '{}' is good; the newest: {}",
                                       steps.size(), folder_.string(), found.refused.front()));
}

}  // namespace narrowcast
