// Any bytes as a file: of arrays (safetensors, a checkpoint), of images and labels in MNIST's layout, plain and
// compressed, of CIFAR-10's, of a pack, of lines of records. Fault::wire, or what it holds can be read to its end.
//
//   input:   u8 which kind of file | its bytes
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "data/data.hpp"
#include "store/store.hpp"
#include "study/folder.hpp"
#include "tests/fuzz/allowed.hpp"

namespace {

using namespace narrowcast;
namespace fs = std::filesystem;

// In memory where there is such a place; gone with the process.
class Folder {
 public:
  Folder() {
    const fs::path base = fs::exists("/dev/shm") ? "/dev/shm" : fs::temp_directory_path();
    std::string name = (base / "narrowcast-fuzz-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  fs::path operator/(const std::string& name) const { return path_ / name; }

 private:
  fs::path path_;
};

void write(const fs::path& file, Bytes bytes) {
  fs::create_directories(file.parent_path());
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out.write(reinterpret_cast<const char*>(bytes.data()),
            static_cast<std::streamsize>(bytes.size()));
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
      if (images->label(i) < 0 || images->label(i) >= images->classes()) std::abort();
      if (images->pixels(i).size() != images->shape().values()) std::abort();
    }
  }
}

// One of MNIST's four files is the input, the others are sound.
void read_mnist(const Folder& folder, const std::string& which, Bytes bytes) {
  const fs::path mnist = folder / "mnist";
  fs::remove_all(mnist);
  write(mnist / "train-images-idx3-ubyte", idx(3, 4, 4));
  write(mnist / "train-labels-idx1-ubyte", idx(1, 4, 1));
  write(mnist / "t10k-images-idx3-ubyte", idx(3, 2, 4));
  write(mnist / "t10k-labels-idx1-ubyte", idx(1, 2, 1));
  if (which.ends_with(".gz")) fs::remove(mnist / which.substr(0, which.size() - 3));
  write(mnist / which, bytes);
  read_all(open_data({.what = mnist.string()}));
}

void read_cifar(const Folder& folder, Bytes bytes) {
  const fs::path cifar = folder / "cifar";
  for (const char* name : {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                           "data_batch_4.bin", "data_batch_5.bin", "test_batch.bin"})
    write(cifar / name, bytes);
  read_all(open_data({.what = cifar.string()}));
}

void read(int kind, const Folder& folder, Bytes bytes) {
  const fs::path file = folder / "file";
  write(file, bytes);
  switch (kind) {
    case 0:
      read_snapshot(file);
      break;
    case 1:
      return read_mnist(folder, "train-images-idx3-ubyte", bytes);
    case 2:
      return read_mnist(folder, "t10k-labels-idx1-ubyte", bytes);
    case 3:
      return read_mnist(folder, "train-images-idx3-ubyte.gz", bytes);
    case 4:
      return read_cifar(folder, bytes);
    case 5:
      return read_all(open_data({.what = file.string()}));
    default:
      read_records(file);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Folder folder;
  if (size == 0) return 0;
  const Bytes bytes = std::as_bytes(std::span(data + 1, size - 1));
  narrowcast::fuzz::expect({Fault::wire, Fault::usage}, [&] { read(data[0] % 7, folder, bytes); });
  return 0;
}
