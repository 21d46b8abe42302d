#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <thread>

#include "base/checksum.hpp"
#include "base/error.hpp"
#include "base/new_file.hpp"
#include "base/team.hpp"
#include "data/data.hpp"
#include "data/packing/jpeg.hpp"
#include "data/packing/layout.hpp"
#include "data/packing/survey.hpp"
#include "data/source/mapped_file.hpp"
#include "data/source/statistics.hpp"

namespace narrowcast {
namespace packing {
namespace {

constexpr std::size_t kBatchBytes = std::size_t{16} << 20;  // decoded together, then written
constexpr int kMostSide = 1 << 15;

Picture read_jpeg(JpegReader& reader, const std::filesystem::path& file) {
  const MappedFile jpeg(file);
  try {
    return reader.read(jpeg.bytes());
  } catch (const Error& error) {
    if (error.fault() != Fault::wire) throw;
    damaged(file, error.what());
  }
}

ImageShape shape_for(const PackOrder& wish, const Entry& first) {
  if (wish.height > 0) return {.channels = 3, .height = wish.height, .width = wish.width};
  JpegReader reader;
  const Picture picture = read_jpeg(reader, first.file);
  return {.channels = 3, .height = picture.height, .width = picture.width};
}

void require_sense(const PackOrder& wish) {
  for (const int side : {wish.height, wish.width})
    if (side < 0 || side > kMostSide || (side == 0) != (wish.height == 0))
      throw Error(Fault::usage, fmt::format("images cannot be {}x{}", wish.height, wish.width));
  std::error_code ignored;
  const std::filesystem::file_status there = std::filesystem::status(wish.file, ignored);
  if (std::filesystem::exists(there) && !std::filesystem::is_regular_file(there))
    throw Error(Fault::usage,
                fmt::format("'{}' is something else than a file", wish.file.string()));
}

// Writes the parts of a pack one after the other.
class Packer {
 public:
  Packer(const PackOrder& wish, Survey found, PackProgress& progress)
      : wish_(wish),
        found_(std::move(found)),
        progress_(progress),
        shape_(shape_for(wish, found_.train.front())),
        histogram_(shape_.channels),
        team_(static_cast<int>(std::max(1U, std::thread::hardware_concurrency()))),
        readers_(static_cast<std::size_t>(team_.size())),
        out_(wish.file.string()) {}

  Packed run() {
    Description about;
    about.shape = shape_;
    about.classes = found_.classes;
    out_->write(std::as_bytes(std::span(&head_, 1)));
    about.train = write_labels(found_.train);
    about.test = write_labels(found_.test);
    align();
    about.train.pixels_checksum = write_pixels(found_.train, &histogram_);
    about.test.pixels_checksum = write_pixels(found_.test, nullptr);
    about.normal = histogram_.normal();
    const std::uint64_t bytes = finish(about);
    return {.images = images(),
            .test_images = found_.test.size(),
            .shape = shape_,
            .classes = found_.classes,
            .bytes = bytes};
  }

 private:
  std::size_t images() const { return found_.train.size() + found_.test.size(); }

  Section write_labels(const std::vector<Entry>& entries) {
    std::vector<Label> labels;
    for (const Entry& entry : entries) labels.push_back(entry.label);
    const Bytes bytes = std::as_bytes(std::span(labels));
    out_->write(bytes);
    return {.images = labels.size(), .labels_checksum = checksum(bytes)};
  }

  void align() {
    const std::uint64_t end = sizeof(Head) + images() * sizeof(Label);
    out_->write(std::vector<std::byte>(pixels_offset(images()) - end));
  }

  std::uint64_t write_pixels(const std::vector<Entry>& entries, Histogram* histogram) {
    const std::size_t each = shape_.values();
    const std::size_t batch = std::max<std::size_t>(1, kBatchBytes / each);
    std::uint64_t sum = 0;
    for (std::size_t first = 0; first < entries.size(); first += batch) {
      const std::span part =
          std::span(entries).subspan(first, std::min(batch, entries.size() - first));
      buffer_.resize(part.size() * each);
      decode(part);
      for (std::size_t i = 0; i < part.size(); ++i) {
        const Bytes image = Bytes(buffer_).subspan(i * each, each);
        sum = checksum(image, sum);
        if (histogram != nullptr) histogram->add(image);
      }
      out_->write(buffer_);
      for (std::size_t i = 0; i < part.size(); ++i) progress_.packed(++done_, images());
    }
    return sum;
  }

  void decode(std::span<const Entry> entries) {
    const std::size_t each = shape_.values();
    const auto members = static_cast<std::size_t>(team_.size());
    team_.run([&](int member) {
      const auto me = static_cast<std::size_t>(member);
      const std::size_t end = (me + 1) * entries.size() / members;
      // In runs, so that of several broken files it is always the first that is named.
      for (std::size_t i = me * entries.size() / members; i < end; ++i)
        split_channels(fitting(readers_[me], entries[i].file),
                       MutableBytes(buffer_).subspan(i * each, each));
    });
  }

  Picture fitting(JpegReader& reader, const std::filesystem::path& file) const {
    Picture picture = read_jpeg(reader, file);
    if (wish_.height > 0) return scaled(picture, shape_.height, shape_.width);
    if (picture.height != shape_.height || picture.width != shape_.width)
      throw Error(
          Fault::usage,
          fmt::format("'{}' is {}x{} and the first image {}x{}; --size HxW makes them alike",
                      file.string(), picture.height, picture.width, shape_.height, shape_.width));
    return picture;
  }

  std::uint64_t finish(const Description& about) {
    const std::string text = description_text(about);
    head_.description_offset = pixels_end(about);
    head_.description_bytes = text.size();
    head_.description_checksum = checksum(std::as_bytes(std::span(text)));
    head_.checksum = checksum_of(head_);
    out_->write(std::as_bytes(std::span(text)));
    out_->write_at(0, std::as_bytes(std::span(&head_, 1)));
    out_->take_name();
    return head_.description_offset + text.size();
  }

  const PackOrder& wish_;
  Survey found_;
  PackProgress& progress_;
  ImageShape shape_;
  Histogram histogram_;
  Team team_;
  std::vector<JpegReader> readers_;
  std::vector<std::byte> buffer_;
  Head head_;
  std::size_t done_ = 0;
  WatchedFile out_;
};

}  // namespace
}  // namespace packing

Packed pack(const PackOrder& order, PackProgress& progress) {
  packing::require_sense(order);
  remove_abandoned_files(order.file.has_parent_path() ? order.file.parent_path() : ".");
  return packing::Packer(order, packing::survey(order.folder), progress).run();
}

}  // namespace narrowcast
