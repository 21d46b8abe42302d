#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"

// The face of this room: labelled images from files, cut into shards and turned into batches of
// floats. No torch.
namespace narrowcast {

struct ImageShape {
  int channels = 1;
  int height = 1;
  int width = 1;
  std::size_t values() const {
    return static_cast<std::size_t>(channels) * static_cast<std::size_t>(height) *
           static_cast<std::size_t>(width);
  }
  bool operator==(const ImageShape&) const = default;
};

// Labelled images of one size.
class Images {
 public:
  virtual ~Images() = default;
  virtual std::size_t size() const = 0;
  virtual ImageShape shape() const = 0;
  virtual int classes() const = 0;
  virtual int label(std::size_t image) const = 0;
  // One byte a value, channel by channel, row by row.
  virtual Bytes pixels(std::size_t image) const = 0;
  // Reads what opening left unread, because it takes long: Fault::wire for damage.
  virtual void check() const {}
};

// By channel, of values between 0 and 1.
struct Normal {
  std::vector<float> mean;
  std::vector<float> deviation;
};

struct DataSet {
  std::string name;
  std::unique_ptr<Images> train;
  std::unique_ptr<Images> test;
  Normal normal;
  std::vector<std::string> class_names;
  std::uint64_t fingerprint = 0;  // of sizes, labels and some pixels: the same on all ranks, or not
};

struct DataWish {
  // A name of data_sets(), or a folder or file with one of their layouts.
  std::string what = "fashion-mnist";
  std::filesystem::path folder = {};  // where names are looked for; empty: $NARROWCAST_DATA
  // For `synthetic` only.
  ImageShape shape = {.channels = 3, .height = 32, .width = 32};
  int classes = 10;
  std::size_t images = 4096;
};

struct DataRow {
  std::string_view name;
  std::string_view summary;
};
std::span<const DataRow> data_sets();

// A data set that is not there is Fault::usage and says how to get it; a damaged file is Fault::wire,
// one line that names it and what is wrong.
DataSet open_data(const DataWish& wish);

// Who reads what: without overlap, in an order that follows from seed and epoch alone. Step t of an
// epoch takes batch * ranks images, the same ones for any number of ranks that makes the same
// product, and each rank a run of `batch` of them. What does not fill a step is left out.
struct Sharding {
  std::uint64_t seed = 0;
  std::uint64_t epoch = 0;
  int rank = 0;
  int ranks = 1;
  std::size_t batch = 128;  // of one rank
};
std::size_t steps_of(std::size_t images, const Sharding& how);
// Of that rank: steps * batch indices.
std::vector<std::size_t> shard(std::size_t images, const Sharding& how);

// What happens to images on their way into a batch.
struct Preparation {
  const Normal* normal = nullptr;
  int pad = 0;             // black around, before the crop
  int crop = 0;            // height and width of the result; 0: the image's own
  bool flip = false;       // left to right, every second time
  bool random = false;     // false, for tests: the crop is the middle, and nothing is flipped
  std::uint64_t seed = 0;  // of the dice: a function of (seed, epoch, image) alone
  std::uint64_t epoch = 0;
};
// Fault::usage for a crop that is larger than image and padding.
ImageShape prepared_shape(const ImageShape& shape, const Preparation& how);
// `out` has images.size() times the values of the prepared shape, `labels` one for each.
void fill_batch(const Images& from, std::span<const std::size_t> images, const Preparation& how,
                MutableFloats out, std::span<std::int64_t> labels);

// A folder of class folders of JPEGs into one file: narrowcast data pack. The folder may have two
// of those, `train` and `val` or `test`; otherwise every tenth image is for testing.
struct PackOrder {
  std::filesystem::path folder;
  std::filesystem::path file;
  int height = 0;  // images of another size are scaled to it (short side) and cropped in the middle
  int width = 0;   // 0: the size of the first image, which all must have
};
struct Packed {
  std::size_t images = 0;  // of both
  std::size_t test_images = 0;
  ImageShape shape;
  std::vector<std::string> classes;
  std::uint64_t bytes = 0;
};
// Told after each image, how many of how many.
class PackProgress {
 public:
  virtual ~PackProgress() = default;
  virtual void packed(std::size_t images, std::size_t of) = 0;
};
// The file is whole or not there. Fault::wire names a JPEG that is broken, Fault::usage one that does
// not fit, Fault::system what cannot be read or written. As long as it runs, signals that end the
// process remove the unfinished file first.
Packed pack(const PackOrder& order, PackProgress& progress);

}  // namespace narrowcast
