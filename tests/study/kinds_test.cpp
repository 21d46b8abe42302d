#include <gmock/gmock.h>

#include "study/kinds/kind.hpp"
#include "study/kinds/words.hpp"
#include "tests/support/fault_text.hpp"

namespace narrowcast::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Cell cell_with(std::map<std::string, std::string> settings) {
  return {.kind = "speed",
          .axes = {{"net", "mnist-mlp"},
                   {"parallel", "model"},
                   {"workers", "2"},
                   {"transport", "shm"},
                   {"link", "1gbit"}},
          .settings = std::move(settings)};
}

TEST(RankWords, KeepTheLinkOnOtherHosts) {
  EXPECT_THAT(rank_words(cell_with({{"hosts", "hosts.txt"}})),
              ElementsAre("--hosts", "hosts.txt", "--shape", "1gbit"));
}

TEST(ALauncher, IsToldOfALinkWhateverItIsCalled) {
  Cell cell = cell_with({{"launcher", "with {link}"}});
  cell.axes["link"] = "a{link}";
  EXPECT_THAT(launcher_of(cell), ElementsAre("with", "a{link}"));
}

TEST(ACalibration, IsOfItsHosts) {
  const Kind& kind = kind_of("predict");
  const auto file = [&](const char* hosts) {
    Cell cell = cell_with({{"hosts", hosts}});
    cell.axes["profile"] = "here";
    return kind.commands(cell, {"profiles"}).front().makes;
  };
  EXPECT_EQ(file("a.txt"), file("a.txt"));
  EXPECT_NE(file("a.txt"), file("b.txt"));
}

std::string step_line(double step_ms) {
  return R"({"event":"step","step_ms":)" + std::to_string(step_ms) + R"(,"images_per_s":)" +
         std::to_string(256e3 / step_ms) +
         R"(,"compute_ms":1,"encode_ms":0,"wire_ms":0,"decode_ms":0,"wait_ms":0,"overlap":1,)"
         R"("wire_bytes":8})"
         "\n";
}

// In model parallelism a step has as many images as in data parallelism: those of all workers.
TEST(Speed, CountsTheImagesThatTheRunCounts) {
  std::string printed = R"({"event":"config","batch":128,"workers":2})"
                        "\n";
  for (const double step_ms : {50, 40, 30, 20, 8, 4, 2}) printed += step_line(step_ms);
  printed += R"({"event":"summary","fp32_bytes":70,"steps":7})"
             "\n";
  CellRecord record{.cell = cell_with({})};
  kind_of("speed").read(printed, record);
  EXPECT_EQ(4, record.values.at("step_ms"));
  EXPECT_EQ(64e3, record.values.at("images_per_s"));
  EXPECT_EQ(10, record.values.at("fp32_bytes"));
}

// As step_ms is: of all epochs.
TEST(Train, CountsTheImagesOfAllEpochs) {
  std::string printed = R"({"event":"config","batch":128,"workers":2})"
                        "\n";
  for (const char* epoch : {R"("epoch":1,"images_per_s":300)", R"("epoch":2,"images_per_s":100)"})
    printed +=
        std::string(R"({"event":"epoch",)") + epoch +
        R"(,"train_loss":1,"test_error":2,"step_ms":1,"compute_ms":1,"wait_ms":0,"overlap":1,)"
        R"("wire_bytes":8,"fp32_bytes":8})"
        "\n";
  printed += R"({"event":"summary","seconds":1,"wire_bytes":7,"fp32_bytes":70,"steps":7})"
             "\n";
  CellRecord record{.cell = cell_with({})};
  kind_of("train").read(printed, record);
  EXPECT_DOUBLE_EQ(150, record.values.at("images_per_s"));
}

// A launcher that starts as many as it likes.
TEST(ACell, IsOfAsManyWorkersAsItSays) {
  const auto refusal = [](const char* kind, const std::string& printed) {
    CellRecord record{.cell = cell_with({{"launcher", "mine"}})};
    record.cell.kind = kind;
    return fault_text([&] { kind_of(kind).read(printed, record); });
  };
  const std::string four = R"({"event":"config","batch":128,"workers":4})";
  EXPECT_THAT(refusal("train", four), HasSubstr("4 workers ran, not 2"));
  EXPECT_THAT(refusal("speed", four), HasSubstr("4 workers ran, not 2"));
  EXPECT_THAT(refusal("transfer", R"({"time_us":5,"ranks":4})"), HasSubstr("4 workers ran, not 2"));
  EXPECT_EQ("no error", refusal("transfer", R"({"time_us":5,"ranks":2})"));
}

}  // namespace
}  // namespace narrowcast::test
