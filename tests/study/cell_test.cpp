#include "study/cell.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "tests/support/fault_text.hpp"

namespace narrowcast::test {
namespace {

using testing::HasSubstr;

CellRecord full_record() {
  CellRecord record = {
      .study = "quick",
      .cell = {.kind = "train",
               .axes = {{"net", "mnist-mlp"}, {"codec", "dynamic8"}, {"seed", "3"}},
               .settings = {{"epochs", "2"}, {"codec", "dynamic8"}}},
      .state = CellState::done,
      .tries = 2,
      .version = "0.1.0",
      .commit = "abc",
      .machine = {.name = "0badcafe",
                  .cpu = "a \"CPU\"",
                  .cores = 2,
                  .memory_bytes = 1ULL << 40U,
                  .kernel = "Linux 6",
                  .engines = {{"libtorch", "1.13"}}},
      .commands = {"narrowcast train --codec dynamic8"},
      .started = "2026-11-17T22:17:45Z",
      .seconds = 12.5,
      .others = 0.25,
      .values = {{"step_ms", 1.0 / 3}, {"last_error", 1.5}},
      .rows = {{.texts = {{"algorithm", "ring"}}, .numbers = {{"percent", 85.2}}}},
      .replica_hash = "0123456789abcdef"};
  record.epochs.push_back({.epoch = 1,
                           .train_loss = 0.5,
                           .test_error = std::nullopt,
                           .images_per_s = 10,
                           .step_ms = 1,
                           .compute_ms = 0.75,
                           .wait_ms = 0.25,
                           .overlap = 0.5,
                           .wire_bytes = 100,
                           .fp32_bytes = 400});
  record.epochs.push_back(record.epochs.front());
  record.epochs.back().epoch = 2;
  record.epochs.back().test_error = 1.5;
  return record;
}

TEST(CellRecord, IsTheSameAfterALineOfJson) {
  const CellRecord record = full_record();
  const std::string line = to_json(record);
  const CellRecord again = record_of_json(line);
  EXPECT_EQ(record.cell, again.cell);
  EXPECT_EQ(record.machine, again.machine);
  EXPECT_EQ(record.values, again.values);
  EXPECT_EQ(record.rows, again.rows);
  ASSERT_EQ(2u, again.epochs.size());
  EXPECT_FALSE(again.epochs[0].test_error);
  EXPECT_EQ(1.5, again.epochs[1].test_error);
  EXPECT_EQ(line, to_json(again));
  EXPECT_EQ(line.size() - 1, line.find('\n'));
}

TEST(CellRecord, KeepsAFailureWithItsMessage) {
  CellRecord record = full_record();
  record.state = CellState::failed;
  record.message = "rank 1 died of signal 9 (Killed)";
  const CellRecord again = record_of_json(to_json(record));
  EXPECT_EQ(CellState::failed, again.state);
  EXPECT_EQ(record.message, again.message);
}

TEST(CellRecord, RefusesWhatIsNoneInOneLine) {
  const std::string line = to_json(full_record());
  const auto without = [&](const std::string& part, const std::string& instead) {
    std::string broken = line;
    const std::size_t at = broken.find(part);
    EXPECT_NE(std::string::npos, at) << part;
    return fault_text([&] { record_of_json(broken.replace(at, part.size(), instead)); });
  };
  EXPECT_THAT(without("\"state\":\"done\"", "\"state\":\"begun\""), HasSubstr("wire: "));
  EXPECT_THAT(without("\"kind\"", "\"sort\""), HasSubstr("no \"kind\""));
  EXPECT_THAT(without("\"seconds\":12.5", "\"seconds\":\"long\""), HasSubstr("seconds"));
  EXPECT_THAT(without("\"seed\":\"3\"", "\"seed\":\"4\""), HasSubstr("another cell"));
  EXPECT_THAT(without("{", ""), HasSubstr("wire: "));
  EXPECT_THAT(fault_text([] { record_of_json("[]"); }), HasSubstr("wire: "));
}

// Records of earlier versions are found by these.
TEST(Cell, HasTheIdThatItAlwaysHad) { EXPECT_EQ("29cd7a4a35c1105a", id_of(full_record().cell)); }

TEST(Cell, HasAnotherIdWhenAnythingDiffers) {
  const Cell cell = full_record().cell;
  Cell other = cell;
  other.kind = "speed";
  EXPECT_NE(id_of(cell), id_of(other));
  other = cell;
  other.axes["seed"] = "4";
  EXPECT_NE(id_of(cell), id_of(other));
  other = cell;
  other.settings["epochs"] = "3";
  EXPECT_NE(id_of(cell), id_of(other));
  // The border between two texts counts.
  EXPECT_NE(id_of({.kind = "a", .axes = {{"b", "cd"}}}),
            id_of({.kind = "a", .axes = {{"bc", "d"}}}));
}

TEST(Cell, IsNamedForPeople) {
  EXPECT_EQ("train mnist-mlp, dynamic8, seed 3", name_of(full_record().cell));
  EXPECT_EQ("train ?[2J", name_of({.kind = "train", .axes = {{"net", "\x1b[2J"}}}));
  EXPECT_EQ("paper d16-cluster", name_of({.kind = "paper", .axes = {{"model", "d16-cluster"}}}));
  EXPECT_EQ(
      "speed lstm, 2 workers",
      name_of({.kind = "speed", .axes = {{"net", "lstm"}, {"workers", "2"}, {"link", "none"}}}));
}

}  // namespace
}  // namespace narrowcast::test
