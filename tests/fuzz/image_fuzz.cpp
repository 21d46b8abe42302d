// Any bytes as images: in MNIST's layout, plain and compressed, in CIFAR-10's, as a pack, and as a JPEG. Refused, or
// what they hold can be read to its end.
//
//   input:   u8 which reader | the file's bytes
#include <memory>
#include <string>

#include "base/checksum.hpp"
#include "data/data.hpp"
#include "data/packing/jpeg.hpp"
#include "data/packing/layout.hpp"
#include "tests/fuzz/support/allowed.hpp"
#include "tests/fuzz/support/file.hpp"

namespace {

using namespace narrowcast;

const fuzz::Folder& folder() {
  static const fuzz::Folder all;
  return all;
}

std::vector<std::byte> idx(std::uint8_t kind, std::uint32_t count, std::size_t each) {
  std::vector<std::byte> bytes = {std::byte{0}, std::byte{0}, std::byte{8}, std::byte{kind}};
  const auto put = [&](std::uint32_t number) {
    for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(std::byte(number >> shift));
  };
  put(count);
  if (kind == 3) {
    put(2);
    put(2);
  }
  bytes.resize(bytes.size() + count * each);
  return bytes;
}

void read_all(const DataSet& set) {
  for (const Images* images : {set.train.get(), set.test.get()}) {
    images->check();
    for (std::size_t i = 0; i < images->size() && i < 16; ++i) {
      if (images->label(i) < 0 || images->label(i) >= images->classes()) abort();
      if (images->pixels(i).size() != images->shape().values()) abort();
    }
  }
}

// A folder of MNIST's four files of which one is the input.
class Mnist {
 public:
  explicit Mnist(const std::string& changing)
      : name_("mnist-" + changing), changing_(folder() / (name_ + "/" + changing)) {
    const std::string plain = changing.substr(0, changing.find(".gz"));
    for (const auto& [file, bytes] : {std::pair{"train-images-idx3-ubyte", idx(3, 4, 4)},
                                      std::pair{"train-labels-idx1-ubyte", idx(1, 4, 1)},
                                      std::pair{"t10k-images-idx3-ubyte", idx(3, 2, 4)},
                                      std::pair{"t10k-labels-idx1-ubyte", idx(1, 2, 1)}})
      if (file != plain) fuzz::File(folder() / (name_ + "/" + file)).holding(bytes);
  }

  void read_with(Bytes bytes) {
    changing_.holding(bytes);
    read_all(open_data({.what = (folder() / name_).string()}));
  }

 private:
  std::string name_;
  fuzz::File changing_;
};

void idx_images(Bytes bytes) {
  static Mnist mnist("train-images-idx3-ubyte");
  mnist.read_with(bytes);
}

void idx_labels(Bytes bytes) {
  static Mnist mnist("t10k-labels-idx1-ubyte");
  mnist.read_with(bytes);
}

void idx_compressed(Bytes bytes) {
  static Mnist mnist("train-images-idx3-ubyte.gz");
  mnist.read_with(bytes);
}

// All six files are the input: they have to be of one size.
void cifar(Bytes bytes) {
  static fuzz::File batch(folder() / "cifar/data_batch_1.bin");
  static const bool linked = [] {
    for (const char* name : {"data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin",
                             "data_batch_5.bin", "test_batch.bin"})
      std::filesystem::create_hard_link(batch.path(), batch.path().parent_path() / name);
    return true;
  }();
  batch.holding(bytes);
  if (linked) read_all(open_data({.what = batch.path().parent_path().string()}));
}

void pack(Bytes bytes) {
  static fuzz::File file(folder() / "images.pack");
  read_all(open_data({.what = file.holding(bytes).string()}));
}

// The same, past the checksums of its head and its description, which keep nobody from writing what
// they like.
void pack_with_checksums(Bytes bytes) {
  std::vector<std::byte> whole(bytes.begin(), bytes.end());
  if (whole.size() >= sizeof(packing::Head)) {
    auto head = get<packing::Head>(whole);
    head.magic = packing::kMagic;
    head.version = packing::kVersion;
    head.description_offset %= whole.size();
    const Bytes description = Bytes(whole).subspan(head.description_offset);
    head.description_bytes = description.size();
    head.description_checksum = checksum(description);
    head.checksum = packing::checksum_of(head);
    put(whole, head);
  }
  pack(whole);
}

void jpeg(Bytes bytes) {
  packing::JpegReader reader;
  const packing::Picture picture = reader.read(bytes);
  if (picture.values.size() != std::size_t{3} * picture.height * picture.width) abort();
}

// A byte of gzip holds a thousand at most, which are read into memory that grows by doubling; a JPEG
// may have that many pixels for a byte.
constexpr std::size_t kDense = 8 * fuzz::kKilo;

const fuzz::Reader kReaders[] = {
    {idx_images, {Fault::wire}, {3 * fuzz::kMega, 64}},
    {idx_labels, {Fault::wire}, {3 * fuzz::kMega, 64}},
    {idx_compressed, {Fault::wire}, {3 * fuzz::kMega, kDense}},
    {cifar, {Fault::wire}, {fuzz::kMega, 64}},
    {pack, {Fault::wire}, {fuzz::kMega, fuzz::kKilo}},
    {pack_with_checksums, {Fault::wire}, {fuzz::kMega, fuzz::kKilo}},
    {jpeg, {Fault::wire}, {4 * fuzz::kMega, kDense}},
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::hand_over(kReaders, fuzz::bytes_of(data, size));
}
