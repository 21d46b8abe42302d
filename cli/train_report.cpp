#include "cli/train_report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ostream>

#include "base/error.hpp"
#include "cli/table.hpp"

namespace narrowcast::cli {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kRefresh = std::chrono::milliseconds(100);

std::string bytes_text(double bytes) {
  if (bytes >= 1e9) return fmt::format("{:.2f} GB", bytes / 1e9);
  if (bytes >= 1e6) return fmt::format("{:.1f} MB", bytes / 1e6);
  return fmt::format("{:.1f} kB", bytes / 1e3);
}

std::string percent(const std::optional<double>& number) {
  return number ? fmt::format("{:.2f} %", *number) : "-";
}

std::string ratio_text(std::uint64_t fp32, std::uint64_t sent) {
  return sent == 0 ? "-"
                   : fmt::format("{:.2f}x", static_cast<double>(fp32) / static_cast<double>(sent));
}

std::string bar(double done) {
  constexpr int kCells = 20;
  const int full = std::clamp(static_cast<int>(done * kCells), 0, kCells);
  return std::string(static_cast<std::size_t>(full), '#') +
         std::string(static_cast<std::size_t>(kCells - full), '.');
}

}  // namespace

RecordFile::RecordFile(const std::string& path, Opening opening, const Console& console)
    : path_(path) {
  if (path.empty()) return;
  if (is_standard_output()) {
    out_ = &console.out;
    return;
  }
  file_.open(path, opening == Opening::append ? std::ios::app : std::ios::trunc);
  if (!file_)
    throw Error(Fault::system, fmt::format("{} cannot be written: {}", path, std::strerror(errno)));
  out_ = &file_;
}

void RecordFile::write(const std::string& line) {
  if (out_ == nullptr) return;
  *out_ << line << std::flush;
  if (!*out_)
    throw Error(Fault::system,
                fmt::format("{} cannot be written: {}", path_, std::strerror(errno)));
}

TrainReport::TrainReport(const Run& run, TrainScene scene, const Console& console,
                         RecordFile& records)
    : run_(run), scene_(std::move(scene)), console_(console), records_(records) {}

void TrainReport::clear_line() {
  if (has_line_) console_.err << "\r\x1b[K" << std::flush;
  has_line_ = false;
}

void TrainReport::started(const Started& started) {
  started_ = started;
  records_.write(config_line(run_, scene_, started));
  if (!talks()) return;
  console_.out << to_toml(run_) << "\n";
  for (const std::string& note : started.notes) console_.out << "passed over: " << note << "\n";
  if (started.first_step > 0)
    console_.out << fmt::format("going on after step {}\n", started.first_step);
  console_.out << fmt::format(
                      "{} with {} parameters on {} ({} images), {} {} over {}, {} steps an epoch",
                      run_.net, started.parameters, run_.data, started.train_images, scene_.workers,
                      scene_.workers == 1 ? "worker" : "workers", scene_.transport,
                      started.steps_per_epoch)
               << std::endl;
}

void TrainReport::step(const StepRecord& record) {
  records_.write(step_line(record));
  smooth_loss_ = smooth_loss_ == 0 ? record.loss : 0.95 * smooth_loss_ + 0.05 * record.loss;
  const Clock::time_point now = Clock::now();
  if (!console_.terminals.err || now - shown_ < kRefresh) return;
  shown_ = now;
  const std::uint64_t in_epoch = (record.step - 1) % started_.steps_per_epoch + 1;
  const double done = static_cast<double>(in_epoch) / static_cast<double>(started_.steps_per_epoch);
  const std::string error = epochs_.empty() ? "" : ", error " + percent(epochs_.back().test_error);
  console_.err << fmt::format(
                      "\r\x1b[Kepoch {}/{} [{}] loss {:.4f}{}, {:.0f} images/s, {} a step, "
                      "overlap {:.0f} %",
                      record.epoch, run_.epochs, bar(done), smooth_loss_, error,
                      record.images_per_s, bytes_text(static_cast<double>(record.wire_bytes)),
                      100 * record.times.overlap)
               << std::flush;
  has_line_ = true;
}

void TrainReport::epoch(const EpochRecord& record) {
  records_.write(epoch_line(record));
  epochs_.push_back(record);
  clear_line();
  if (!talks()) return;
  console_.out << fmt::format(
                      "epoch {}/{}: loss {:.4f}, error {}, {:.0f} images/s, {} sent, overlap "
                      "{:.0f} %{}",
                      record.epoch, run_.epochs, record.train_loss, percent(record.test_error),
                      record.images_per_s, bytes_text(static_cast<double>(record.wire_bytes)),
                      100 * record.times.overlap,
                      record.skipped == 0 ? "" : fmt::format(", {} skipped", record.skipped))
               << std::endl;
}

void TrainReport::saved(const std::filesystem::path& checkpoint, std::uint64_t step) {
  if (console_.terminals.err) {
    console_.err << fmt::format("\r\x1b[Kcheckpoint of step {} is in {}", step, checkpoint.string())
                 << std::flush;
    has_line_ = true;
  }
}

void TrainReport::finished(const Summary& summary) {
  records_.write(summary_line(summary));
  clear_line();
  if (!talks()) return;
  print_table();
  print_cost(summary);
  if (!summary.stopped) return;
  console_.out << fmt::format("stopped after step {}", summary.steps)
               << (run_.checkpoint.empty() ? ""
                                           : fmt::format("; --checkpoint {} --resume goes on",
                                                         run_.checkpoint.string()))
               << std::endl;
}

void TrainReport::print_table() const {
  if (epochs_.empty()) return;
  Table table({{"epoch"},
               {"loss"},
               {"error"},
               {"images/s"},
               {"step ms"},
               {"compute"},
               {"encode"},
               {"wire"},
               {"decode"},
               {"wait"},
               {"overlap"},
               {"sent"},
               {"fp32/sent"}});
  for (const EpochRecord& e : epochs_)
    table.add({std::to_string(e.epoch), fmt::format("{:.4f}", e.train_loss), percent(e.test_error),
               fmt::format("{:.0f}", e.images_per_s), fmt::format("{:.2f}", e.times.step),
               fmt::format("{:.2f}", e.times.compute), fmt::format("{:.2f}", e.times.encode),
               fmt::format("{:.2f}", e.times.wire), fmt::format("{:.2f}", e.times.decode),
               fmt::format("{:.2f}", e.times.wait), fmt::format("{:.0f} %", 100 * e.times.overlap),
               bytes_text(static_cast<double>(e.wire_bytes)),
               ratio_text(e.fp32_bytes, e.wire_bytes)});
  console_.out << "\n" << table.text();
}

// Of times only what this run measured is used: how long its own bytes took.
void TrainReport::print_cost(const Summary& summary) const {
  // 0: all weights are split, and nothing is held by more than one rank.
  console_.out << fmt::format(
      "\n{} steps in {:.1f} s, best error {}{}\n", summary.steps, summary.seconds,
      percent(summary.best_error),
      summary.replica_hash == 0 ? std::string() : ", replicas " + hash_text(summary.replica_hash));
  if (summary.wire_bytes == 0) return;
  const auto sent = static_cast<double>(summary.wire_bytes);
  const auto fp32 = static_cast<double>(summary.fp32_bytes);
  console_.out << fmt::format("each worker sent {}; fp32 would have been {} ({:.2f} times as much)",
                              bytes_text(sent), bytes_text(fp32), fp32 / sent);
  if (summary.times.wire > 0)
    console_.out << fmt::format(", {:.1f} ms on the wire a step instead of {:.1f} at this rate",
                                summary.times.wire * fp32 / sent, summary.times.wire);
  console_.out << std::endl;
}

}  // namespace narrowcast::cli
