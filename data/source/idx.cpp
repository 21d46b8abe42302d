#include <fmt/core.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "data/source/mapped_file.hpp"
#include "data/source/source.hpp"
#include "data/source/statistics.hpp"

namespace narrowcast::source {
namespace {

namespace fs = std::filesystem;

constexpr int kClasses = 10;
constexpr std::size_t kMostSide = 4096;
constexpr std::size_t kChunk = std::size_t{1} << 20;

// zlib reads files that are not compressed as they are.
class Unzipped {
 public:
  explicit Unzipped(const fs::path& file) : path_(file) {
    // zlib itself would wait for a writer of a pipe.
    Descriptor opened = open_regular(file);
    file_.reset(::gzdopen(opened.get(), "rb"));
    if (file_ == nullptr) cannot_read(file);
    opened.release();
  }

  // At most `most` bytes, fewer at the end. Memory is taken as the bytes come, not as a header
  // promises them.
  std::vector<std::byte> read(std::size_t most) {
    std::vector<std::byte> bytes;
    while (bytes.size() < most) {
      const std::size_t before = bytes.size();
      const std::size_t wanted = std::min(kChunk, most - before);
      bytes.resize(before + wanted);
      const int got = ::gzread(file_.get(), bytes.data() + before, static_cast<unsigned>(wanted));
      bytes.resize(before + static_cast<std::size_t>(std::max(got, 0)));
      require_no_error();
      if (got == 0) break;
    }
    return bytes;
  }

 private:
  void require_no_error() {
    int code = Z_OK;
    const char* why = ::gzerror(file_.get(), &code);
    if (code == Z_ERRNO) cannot_read(path_);
    if (code == Z_BUF_ERROR) damaged(path_, "the gzip data is cut short");
    if (code != Z_OK) damaged(path_, fmt::format("the gzip data is damaged: {}", why));
  }

  struct Close {
    void operator()(gzFile file) const { ::gzclose(file); }
  };
  fs::path path_;
  std::unique_ptr<gzFile_s, Close> file_;
};

std::size_t big_endian(Bytes bytes) {
  std::size_t value = 0;
  for (const std::byte byte : bytes.first(4))
    value = value << 8 | std::to_integer<std::size_t>(byte);
  return value;
}

struct Idx {
  std::vector<std::size_t> extents;
  std::vector<std::byte> values;
};

// Unsigned bytes of so many dimensions: two zeros, 8 for the type, the number of dimensions, their
// extents as big-endian numbers of 32 bits, the bytes.
Idx read_idx(const fs::path& file, std::size_t dimensions) {
  Unzipped in(file);
  const std::vector<std::byte> head = in.read(4 + 4 * dimensions);
  const std::size_t magic = head.size() < 4 ? 0 : big_endian(head);
  if (magic != 0x800 + dimensions)
    damaged(file, fmt::format("it starts with {:08x}, not with {:08x}: it is no IDX file of {}",
                              magic, 0x800 + dimensions, dimensions == 1 ? "labels" : "images"));
  if (head.size() < 4 + 4 * dimensions) damaged(file, "it is too short for an IDX file");
  Idx idx;
  std::size_t expected = 1;
  for (std::size_t i = 0; i < dimensions; ++i) {
    idx.extents.push_back(big_endian(Bytes(head).subspan(4 + 4 * i)));
    if (idx.extents[i] == 0) damaged(file, "there is nothing in it");
    if (i > 0 && idx.extents[i] > kMostSide) damaged(file, "its images are too large to be true");
    expected *= idx.extents[i];
  }
  idx.values = in.read(expected + 1);
  if (idx.values.size() < expected)
    damaged(file, fmt::format("it ends after {} of {} bytes", idx.values.size(), expected));
  if (idx.values.size() > expected) damaged(file, "it goes on where it should end");
  return idx;
}

class IdxImages final : public Images {
 public:
  IdxImages(Idx images, Idx labels) : images_(std::move(images)), labels_(std::move(labels)) {}

  std::size_t size() const override { return images_.extents[0]; }
  ImageShape shape() const override {
    return {.channels = 1,
            .height = static_cast<int>(images_.extents[1]),
            .width = static_cast<int>(images_.extents[2])};
  }
  int classes() const override { return kClasses; }
  int label(std::size_t image) const override {
    return std::to_integer<int>(labels_.values[image]);
  }
  Bytes pixels(std::size_t image) const override {
    return Bytes(images_.values).subspan(image * shape().values(), shape().values());
  }

 private:
  Idx images_;
  Idx labels_;
};

// The same files go by several names.
std::optional<fs::path> find_idx(const fs::path& folder, std::string_view part,
                                 std::string_view kind) {
  for (const char* middle : {"-", "."})
    for (const char* end : {"", ".gz"}) {
      fs::path file = folder / fmt::format("{}{}{}-ubyte{}", part, middle, kind, end);
      std::error_code ignored;
      if (fs::exists(file, ignored)) return file;
    }
  return std::nullopt;
}

fs::path require_idx(const fs::path& folder, std::string_view part, std::string_view kind) {
  if (const auto found = find_idx(folder, part, kind)) return *found;
  throw Error(Fault::usage, fmt::format("folder '{}' has no {}-{}-ubyte, plain or .gz",
                                        folder.string(), part, kind));
}

std::unique_ptr<Images> read_part(const fs::path& folder, const std::string& part) {
  const fs::path images_file = require_idx(folder, part + "-images", "idx3");
  const fs::path labels_file = require_idx(folder, part + "-labels", "idx1");
  Idx images = read_idx(images_file, 3);
  Idx labels = read_idx(labels_file, 1);
  if (images.extents[0] != labels.extents[0])
    damaged(labels_file, fmt::format("it has {} labels for the {} images of '{}'",
                                     labels.extents[0], images.extents[0], images_file.string()));
  for (std::size_t i = 0; i < labels.values.size(); ++i)
    if (std::to_integer<int>(labels.values[i]) >= kClasses)
      damaged(labels_file, fmt::format("label {} is {}, and there are {} classes", i,
                                       std::to_integer<int>(labels.values[i]), kClasses));
  return std::make_unique<IdxImages>(std::move(images), std::move(labels));
}

// As such figures are published, so that MNIST has MNIST's whatever its folder is called.
Normal four_digits(Normal normal) {
  for (auto* values : {&normal.mean, &normal.deviation})
    for (float& value : *values) value = std::round(value * 1e4F) / 1e4F;
  return normal;
}

}  // namespace

bool is_idx(const fs::path& folder) { return find_idx(folder, "train-images", "idx3").has_value(); }

DataSet open_idx(const fs::path& folder) {
  DataSet set;
  set.train = read_part(folder, "train");
  set.test = read_part(folder, "t10k");
  if (set.train->shape() != set.test->shape())
    damaged(require_idx(folder, "t10k-images", "idx3"),
            "its images have another size than those for training");
  set.normal = four_digits(normal_of(*set.train));
  for (int digit = 0; digit < kClasses; ++digit) set.class_names.push_back(std::to_string(digit));
  return set;
}

}  // namespace narrowcast::source
