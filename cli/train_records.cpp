#include "cli/train_records.hpp"

#include <fmt/core.h>

#include "base/json.hpp"
#include "base/version.hpp"
#include "study/records.hpp"

namespace narrowcast::cli {
namespace {

JsonValue optional_number(const std::optional<double>& number) {
  return number ? JsonValue(*number) : JsonValue(nullptr);
}

void add_times(std::vector<JsonMember>& members, const Times& times) {
  members.insert(members.end(), {{"step_ms", times.step},
                                 {"compute_ms", times.compute},
                                 {"encode_ms", times.encode},
                                 {"wire_ms", times.wire},
                                 {"decode_ms", times.decode},
                                 {"wait_ms", times.wait},
                                 {"overlap", times.overlap}});
}

JsonValue bytes_by_codec(const std::map<std::string, std::uint64_t>& bytes) {
  std::vector<JsonMember> members;
  for (const auto& [codec, sent] : bytes) members.push_back({codec, sent});
  return json_object(members);
}

std::string_view name_of(Parallel parallel) {
  switch (parallel) {
    case Parallel::data:
      return "data";
    case Parallel::model:
      return "model";
    case Parallel::hybrid:
      break;
  }
  return "hybrid";
}

}  // namespace

std::string hash_text(std::uint64_t hash) { return fmt::format("{:016x}", hash); }

std::string config_line(const Run& run, const TrainScene& scene, const Started& started) {
  std::vector<JsonValue> notes(started.notes.begin(), started.notes.end());
  return json_line({{"event", "config"},
                    {kFormatKey, kRecordFormat},
                    {"version", version()},
                    {"commit", commit()},
                    {"torch", started.torch},
                    {"blas", started.blas},
                    {"net", run.net},
                    {"data", run.data},
                    {"parallel", name_of(run.parallel)},
                    {"workers", scene.workers},
                    {"transport", scene.transport},
                    {"sealing", scene.sealing},
                    {"link", scene.shape},
                    {"batch", run.batch},
                    {"epochs", run.epochs},
                    {"seed", run.seed},
                    {"parameters", started.parameters},
                    {"train_images", started.train_images},
                    {"test_images", started.test_images},
                    {"steps_per_epoch", started.steps_per_epoch},
                    {"first_step", started.first_step},
                    {"notes", json_array(notes)},
                    {"settings", to_toml(run)}});
}

std::string step_line(const StepRecord& record) {
  std::vector<JsonMember> members = {
      {"event", "step"},     {"step", record.step}, {"epoch", record.epoch},
      {"loss", record.loss}, {"rate", record.rate}, {"images_per_s", record.images_per_s}};
  add_times(members, record.times);
  members.insert(members.end(), {{"wire_bytes", record.wire_bytes}, {"skipped", record.skipped}});
  return json_line(members);
}

std::string epoch_line(const EpochRecord& record) {
  std::vector<JsonMember> members = {{"event", "epoch"},
                                     {"epoch", record.epoch},
                                     {"step", record.step},
                                     {"train_loss", record.train_loss},
                                     {"test_error", optional_number(record.test_error)},
                                     {"images_per_s", record.images_per_s}};
  add_times(members, record.times);
  members.insert(members.end(), {{"wire_bytes", record.wire_bytes},
                                 {"fp32_bytes", record.fp32_bytes},
                                 {"bytes_by_codec", bytes_by_codec(record.bytes_by_codec)},
                                 {"replica_hash", hash_text(record.replica_hash)},
                                 {"skipped", record.skipped}});
  return json_line(members);
}

std::string fault_line(int restart, const std::string& why) {
  return json_line({{"event", "fault"}, {"text", why}, {"restart", restart}});
}

std::string summary_line(const Summary& summary) {
  std::vector<JsonMember> members = {{"event", "summary"},
                                     {"steps", summary.steps},
                                     {"epochs", summary.epochs},
                                     {"stopped", summary.stopped},
                                     {"best_error", optional_number(summary.best_error)},
                                     {"last_error", optional_number(summary.last_error)},
                                     {"seconds", summary.seconds}};
  add_times(members, summary.times);
  members.insert(members.end(), {{"wire_bytes", summary.wire_bytes},
                                 {"fp32_bytes", summary.fp32_bytes},
                                 {"replica_hash", hash_text(summary.replica_hash)}});
  return json_line(members);
}

}  // namespace narrowcast::cli
