#include "run/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "base/version.hpp"

namespace narrowcast {
namespace {

constexpr std::string_view kFormat = "narrowcast checkpoint 1";
constexpr std::uint64_t kMostEpochs = std::numeric_limits<decltype(Run::epochs)>::max();

std::string hex(std::uint64_t number) { return fmt::format("{:016x}", number); }

const std::string& text_of(const Texts& texts, const std::string& key) {
  const auto found = texts.find(key);
  if (found == texts.end())
    throw Error(Fault::wire, fmt::format("the checkpoint has no '{}'", key));
  return found->second;
}

template <class Number>
Number number_of(const Texts& texts, const std::string& key) {
  const std::string& text = text_of(texts, key);
  Number value{};
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc{} || end != text.data() + text.size())
    throw Error(Fault::wire, fmt::format("the checkpoint's '{}' is no number: {}", key, text));
  return value;
}

void require_same(const Texts& texts, const std::string& key, const std::string& here) {
  const std::string& there = text_of(texts, key);
  if (there != here)
    throw Error(Fault::usage, fmt::format("the checkpoint is of {} {}, this run of {}; choose "
                                          "another --checkpoint folder",
                                          key, there, here));
}

[[noreturn]] void refuse(const std::string& key, const Texts& texts) {
  throw Error(Fault::wire,
              fmt::format("the checkpoint's '{}' cannot be true: {}", key, text_of(texts, key)));
}

// A step takes one image at least.
bool is_possible_step(const Progress& at, std::uint64_t images) {
  const std::uint64_t in_whole_epochs = at.step - std::min(at.step, at.images_in_epoch);
  return in_whole_epochs == 0 || (in_whole_epochs - 1) / images < at.epoch;
}

bool is_error(double percent) { return percent >= -1 && percent <= 100; }

// The sum of losses may be anything: a loss that is not finite is passed over, and the run goes on.
void require_possible(const Progress& at, const Texts& texts, std::uint64_t images) {
  if (at.epoch > kMostEpochs) refuse("epoch", texts);
  if (at.images_in_epoch > images) refuse("images", texts);
  if (!is_possible_step(at, images)) refuse("step", texts);
  if (!std::isfinite(at.loss_count) || at.loss_count < 0) refuse("loss_count", texts);
  if (!is_error(at.best_error)) refuse("best_error", texts);
  if (!is_error(at.last_error)) refuse("last_error", texts);
}

}  // namespace

void Progress::note_error(double percent) {
  last_error = percent;
  best_error = best_error < 0 ? percent : std::min(best_error, percent);
}

std::optional<double> Progress::best() const {
  return best_error < 0 ? std::nullopt : std::optional(best_error);
}

std::optional<double> Progress::last() const {
  return last_error < 0 ? std::nullopt : std::optional(last_error);
}

Texts texts_of(const Progress& progress, const Run& run, const TrainingData& data) {
  return {{"format", std::string(kFormat)},
          {"version", std::string(version())},
          {"network", run.net},
          {"data", data.name},
          {"fingerprint", hex(data.fingerprint)},
          {"seed", std::to_string(run.seed)},
          {"run", to_toml(run)},
          {"step", std::to_string(progress.step)},
          {"epoch", std::to_string(progress.epoch)},
          {"images", std::to_string(progress.images_in_epoch)},
          // The fewest digits that read back the same.
          {"loss_sum", fmt::format("{}", progress.loss_sum)},
          {"loss_count", fmt::format("{}", progress.loss_count)},
          {"best_error", fmt::format("{}", progress.best_error)},
          {"last_error", fmt::format("{}", progress.last_error)}};
}

Progress read_progress(const Texts& texts, const Run& run, const TrainingData& data) {
  if (text_of(texts, "format") != kFormat)
    throw Error(Fault::wire,
                fmt::format("not a checkpoint that this version reads: '{}', where '{}' is known",
                            text_of(texts, "format"), kFormat));
  require_same(texts, "network", run.net);
  require_same(texts, "data", data.name);
  require_same(texts, "fingerprint", hex(data.fingerprint));
  require_same(texts, "seed", std::to_string(run.seed));
  const Progress at = {.step = number_of<std::uint64_t>(texts, "step"),
                       .epoch = number_of<std::uint64_t>(texts, "epoch"),
                       .images_in_epoch = number_of<std::uint64_t>(texts, "images"),
                       .loss_sum = number_of<double>(texts, "loss_sum"),
                       .loss_count = number_of<double>(texts, "loss_count"),
                       .best_error = number_of<double>(texts, "best_error"),
                       .last_error = number_of<double>(texts, "last_error")};
  require_possible(at, texts, data.images);
  return at;
}

}  // namespace narrowcast
