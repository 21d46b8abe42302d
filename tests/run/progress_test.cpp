#include "run/progress.hpp"

#include <gmock/gmock.h>

#include "store/store.hpp"
#include "tests/support/fault_text.hpp"
#include "tests/support/places.hpp"

// Checkpoints of this format and of others.
namespace narrowcast::test {
namespace {

using testing::StartsWith;

Snapshot golden(const char* name) { return read_snapshot(golden_folder() / "formats" / name); }

TrainingData data_of_golden() {
  return {.name = "golden", .fingerprint = 0x0123456789abcdef, .images = 1000};
}

Run run_of_golden() { return {.net = "mnist-mlp", .seed = 7}; }

Progress read_as_golden(const Texts& texts) {
  return read_progress(texts, run_of_golden(), data_of_golden());
}

// In the middle of the third epoch.
Texts good_texts() {
  const Progress progress = {.step = 25,
                             .epoch = 2,
                             .images_in_epoch = 500,
                             .loss_sum = 0.1,
                             .loss_count = 5,
                             .best_error = 12.5,
                             .last_error = 13};
  return texts_of(progress, run_of_golden(), data_of_golden());
}

std::string refusal_with(const std::string& key, const std::string& text) {
  Texts texts = good_texts();
  texts[key] = text;
  return fault_text([&] { read_as_golden(texts); });
}

TEST(Checkpoint, OfFormat1IsReadForEver) {
  const Snapshot snapshot = golden("checkpoint.safetensors");
  const Progress progress = read_as_golden(snapshot.about);
  EXPECT_EQ(3u, progress.step);
  EXPECT_EQ(1u, progress.epoch);
  EXPECT_EQ(128u, progress.images_in_epoch);
  EXPECT_EQ(1.5, progress.loss_sum);
  EXPECT_EQ(2, progress.loss_count);
  EXPECT_EQ(12.5, progress.best_error);
  EXPECT_EQ(13, progress.last_error);
  EXPECT_EQ(-2, floats_of(snapshot.at("weight/a"))[1]);
}

TEST(Checkpoint, IsWrittenInTheFormatThatIsRead) {
  const Texts texts = good_texts();
  EXPECT_EQ("narrowcast checkpoint 1", texts.at("format"));
  EXPECT_EQ(texts, texts_of(read_as_golden(texts), run_of_golden(), data_of_golden()));
}

TEST(Checkpoint, OfALaterFormatIsRefusedAndBothAreNamed) {
  EXPECT_EQ(
      "wire: not a checkpoint that this version reads: 'narrowcast checkpoint 2', where "
      "'narrowcast "
      "checkpoint 1' is known",
      fault_text([] { read_as_golden(golden("checkpoint.next.safetensors").about); }));
}

TEST(Checkpoint, OfAnotherRunIsRefused) {
  for (const char* key : {"network", "data", "fingerprint", "seed"})
    EXPECT_THAT(refusal_with(key, "0"), StartsWith("usage: the checkpoint is of ")) << key;
}

TEST(Checkpoint, ThatNoRunCanHaveComeToIsRefused) {
  EXPECT_EQ("wire: the checkpoint's 'epoch' cannot be true: 18446744073709551615",
            refusal_with("epoch", "18446744073709551615"));
  const std::pair<const char*, std::vector<const char*>> wrong[] = {
      {"epoch", {"9223372036854775808", "2147483648", "-1", ""}},
      {"images", {"18446744073709551615", "1001", "x"}},
      {"step", {"1000000000000000000", "18446744073709551615", "2501", "1.5"}},
      {"loss_sum", {"", "1e999", "1 "}},
      {"loss_count", {"nan", "inf", "-1"}},
      {"best_error", {"nan", "inf", "-inf", "-2", "100.5"}},
      {"last_error", {"nan", "inf", "-inf", "-2", "100.5"}}};
  for (const auto& [key, texts] : wrong)
    for (const char* text : texts)
      EXPECT_THAT(refusal_with(key, text),
                  StartsWith("wire: the checkpoint's '" + std::string(key) + "' "))
          << text;
}

TEST(Checkpoint, AtTheLimitsOfWhatCanBeIsRead) {
  EXPECT_EQ("no error", refusal_with("epoch", "2147483647"));
  EXPECT_EQ("no error", refusal_with("images", "1000"));
  EXPECT_EQ("no error", refusal_with("step", "2500"));
  EXPECT_EQ("no error", refusal_with("best_error", "100"));
  EXPECT_EQ("no error", refusal_with("last_error", "-1"));
}

// A step whose loss overflows is passed over; the run that had one can be gone on with.
TEST(Checkpoint, MayHaveALossThatIsNotFinite) {
  for (const char* text : {"nan", "-nan", "inf", "-inf"})
    EXPECT_EQ("no error", refusal_with("loss_sum", text));
}

}  // namespace
}  // namespace narrowcast::test
