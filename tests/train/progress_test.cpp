#include "train/loop/progress.hpp"

#include <gmock/gmock.h>

#include "tests/support/fault_text.hpp"
#include "tests/support/places.hpp"

// Checkpoints of this format and of others.
namespace narrowcast::test {
namespace {

using testing::HasSubstr;

Snapshot golden(const char* name) { return read_snapshot(golden_folder() / "formats" / name); }

DataSet data_of_golden() {
  DataSet data;
  data.name = "golden";
  data.fingerprint = 0x0123456789abcdef;
  return data;
}

Run run_of_golden() { return {.net = "mnist-mlp", .seed = 7}; }

TEST(Checkpoint, OfFormat1IsReadForEver) {
  const Snapshot snapshot = golden("checkpoint.safetensors");
  const Progress progress = read_progress(snapshot, run_of_golden(), data_of_golden());
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
  const Progress progress = {.step = 5, .epoch = 2, .loss_sum = 0.1};
  const Snapshot snapshot = snapshot_of(progress, run_of_golden(), data_of_golden(), {});
  EXPECT_EQ("narrowcast checkpoint 1", snapshot.about.at("format"));
  EXPECT_EQ(5u, read_progress(snapshot, run_of_golden(), data_of_golden()).step);
}

TEST(Checkpoint, OfALaterFormatIsRefusedAndBothAreNamed) {
  EXPECT_EQ(
      "wire: not a checkpoint that this version reads: 'narrowcast checkpoint 2', where "
      "'narrowcast "
      "checkpoint 1' is known",
      fault_text([] {
        read_progress(golden("checkpoint.next.safetensors"), run_of_golden(), data_of_golden());
      }));
}

}  // namespace
}  // namespace narrowcast::test
