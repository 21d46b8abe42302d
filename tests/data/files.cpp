#include "tests/data/files.hpp"

#include <turbojpeg.h>
#include <zlib.h>

#include <cstdlib>
#include <stdexcept>

#include "tests/support/bytes_in_files.hpp"
#include "tests/support/fault_text.hpp"
#include "tests/support/places.hpp"

namespace narrowcast::test {
namespace {

std::string big_endian(int value) {
  std::string bytes;
  for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(value >> shift);
  return bytes;
}

std::string compressed(const std::vector<unsigned char>& pixels, int height, int width,
                       int format) {
  const tjhandle handle = tjInitCompress();
  unsigned char* jpeg = nullptr;
  unsigned long size = 0;
  const int subsampling = format == TJPF_GRAY ? TJSAMP_GRAY : TJSAMP_444;
  const int failed = tjCompress2(handle, pixels.data(), width, 0, height, format, &jpeg, &size,
                                 subsampling, 95, TJFLAG_ACCURATEDCT);
  std::string bytes(reinterpret_cast<const char*>(jpeg), size);
  tjFree(jpeg);
  tjDestroy(handle);
  if (failed != 0) throw std::runtime_error("cannot compress");
  return bytes;
}

}  // namespace

std::string idx_labels(const std::vector<int>& labels) {
  std::string bytes = big_endian(0x801) + big_endian(static_cast<int>(labels.size()));
  for (const int label : labels) bytes += static_cast<char>(label);
  return bytes;
}

std::string idx_images(int count, int height, int width) {
  std::string bytes =
      big_endian(0x803) + big_endian(count) + big_endian(height) + big_endian(width);
  for (int i = 0; i < count * height * width; ++i) bytes += static_cast<char>(i);
  return bytes;
}

std::string gzipped(const std::string& bytes) {
  z_stream stream = {};
  constexpr int kGzip = 15 + 16;
  if (deflateInit2(&stream, 9, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::runtime_error("cannot compress");
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  std::string in = bytes;
  stream.next_in = reinterpret_cast<unsigned char*>(in.data());
  stream.avail_in = static_cast<unsigned>(in.size());
  stream.next_out = reinterpret_cast<unsigned char*>(out.data());
  stream.avail_out = static_cast<unsigned>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

void write_mnist(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  write_contents(folder / "train-images-idx3-ubyte", idx_images(12, 3, 4));
  write_contents(folder / "train-labels-idx1-ubyte.gz",
                 gzipped(idx_labels({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1})));
  write_contents(folder / "t10k-images-idx3-ubyte.gz", gzipped(idx_images(5, 3, 4)));
  write_contents(folder / "t10k-labels-idx1-ubyte", idx_labels({9, 8, 7, 6, 5}));
}

void write_cifar(const std::filesystem::path& folder, int images) {
  std::filesystem::create_directories(folder);
  for (int file = 1; file <= 6; ++file) {
    std::string bytes;
    for (int i = 0; i < images; ++i)
      bytes +=
          static_cast<char>((file + i) % 10) + std::string(3072, static_cast<char>(16 * file + i));
    const std::string name =
        file == 6 ? "test_batch.bin" : "data_batch_" + std::to_string(file) + ".bin";
    write_contents(folder / name, bytes);
  }
}

std::string jpeg_of(int height, int width, const std::array<int, 3>& colour) {
  std::vector<unsigned char> pixels;
  for (int i = 0; i < height * width; ++i)
    for (const int value : colour) pixels.push_back(static_cast<unsigned char>(value));
  return compressed(pixels, height, width, TJPF_RGB);
}

std::string grey_jpeg_of(int height, int width, int grey) {
  const std::vector<unsigned char> pixels(static_cast<std::size_t>(height * width),
                                          static_cast<unsigned char>(grey));
  return compressed(pixels, height, width, TJPF_GRAY);
}

std::string refusal_of(const DataWish& wish) {
  return fault_text([&] { open_data(wish); });
}

std::optional<std::filesystem::path> real_data(const std::string& name) {
  const char* variable = std::getenv("NARROWCAST_TEST_DATA");
  const std::filesystem::path root = source_folder();
  const std::filesystem::path folder =
      (variable == nullptr ? root / "../shared/data" : std::filesystem::path(variable)) / name;
  if (!std::filesystem::is_directory(folder)) return std::nullopt;
  return folder;
}

}  // namespace narrowcast::test
