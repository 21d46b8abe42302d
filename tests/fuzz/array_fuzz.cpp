// Any bytes as a file of arrays: as anybody's safetensors, and as a checkpoint whose residuals an exchange takes.
//
//   input:   u8 which reader | the file's bytes
#include "exchange/engine/codecs.hpp"
#include "exchange/engine/keeping.hpp"
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
  for (const Residual& mine : load_residuals(snapshot_of(bytes).arrays, tensors, codecs, group))
    if (mine.sender.size() > 6 || mine.owner.size() > 6) abort();
}

const fuzz::Reader kReaders[] = {
    {arrays, {Fault::wire}, {64 * fuzz::kKilo, fuzz::kKilo}},
    {residuals, {Fault::wire}, {256 * fuzz::kKilo, fuzz::kKilo}},
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::hand_over(kReaders, fuzz::bytes_of(data, size));
}
