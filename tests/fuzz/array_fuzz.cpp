// Any bytes as a file of arrays: as anybody's safetensors, and as a checkpoint whose residuals an exchange takes and
// that says how far a run has come.
//
//   input:   u8 which reader | the file's bytes
#include "exchange/engine/codecs.hpp"
#include "exchange/engine/keeping.hpp"
#include "run/progress.hpp"
#include "store/store.hpp"
#include "tests/fuzz/support/allowed.hpp"
#include "tests/fuzz/support/file.hpp"
#include "transport/inproc.hpp"

namespace {

using namespace narrowcast;

Snapshot snapshot_of(Bytes bytes) {
  static const fuzz::Folder folder;
  static fuzz::File file(folder / "arrays");
  return read_snapshot(file.holding(bytes));
}

void arrays(Bytes bytes) {
  for (const Array& array : snapshot_of(bytes).arrays)
    if (array.dtype == Dtype::f32 && floats_of(array).size_bytes() != array.bytes.size()) abort();
}

// A rank alone, whatever the number of ranks that the file says it is of.
void residuals(Bytes bytes) {
  static const std::vector<Tensor> tensors = {{"a", 4}, {"b", 6, 3}};
  static Hub hub(1);
  static const std::unique_ptr<Transport> net = hub.connect(0);
  static Conversation group(*net, 0);
  Codecs codecs;
  const std::vector<Array> saved = snapshot_of(bytes).arrays;
  // As an exchange does: what is judged to be wrong is not taken.
  if (!judge_residuals(saved, tensors, codecs, group).empty()) return;
  for (const Residual& mine : load_residuals(saved, tensors, codecs, group))
    if (mine.sender.size() > 6 || mine.owner.size() > 6) abort();
}

// What was read is possible, and the same when it is written and read again.
void progress(Bytes bytes) {
  static const Run run;
  static const TrainingData data = {.name = "d", .fingerprint = 1, .images = 1000};
  const Progress read = read_progress(snapshot_of(bytes).about, run, data);
  if (read.images_in_epoch > data.images || read.step > (read.epoch + 1) * data.images) abort();
  const Texts again = texts_of(read, run, data);
  if (texts_of(read_progress(again, run, data), run, data) != again) abort();
}

const fuzz::Reader kReaders[] = {
    {arrays, {Fault::wire}, {64 * fuzz::kKilo, fuzz::kKilo}},
    {residuals, {Fault::wire}, {256 * fuzz::kKilo, fuzz::kKilo}},
    // Of another network, data set or seed.
    {progress, {Fault::wire, Fault::usage}, {256 * fuzz::kKilo, fuzz::kKilo}},
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::hand_over(kReaders, fuzz::bytes_of(data, size));
}
