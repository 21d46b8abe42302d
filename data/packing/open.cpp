#include <fmt/core.h>

#include <algorithm>
#include <memory>

#include "base/checksum.hpp"
#include "base/error.hpp"
#include "data/packing/layout.hpp"
#include "data/source/mapped_file.hpp"
#include "data/source/source.hpp"

namespace narrowcast::source {
namespace {

namespace fs = std::filesystem;
using packing::Description;
using packing::Head;
using packing::Label;
using packing::Section;

struct Parts {
  std::shared_ptr<const MappedFile> file;
  Bytes labels;
  Bytes pixels;
};

class PackedImages final : public Images {
 public:
  PackedImages(Parts parts, const Description& description, const Section& section)
      : parts_(std::move(parts)),
        section_(section),
        shape_(description.shape),
        classes_(static_cast<int>(description.classes.size())) {
    if (checksum(parts_.labels) != section.labels_checksum)
      damaged(parts_.file->path(), "the checksum of its labels does not match");
    for (std::size_t i = 0; i < size(); ++i)
      if (stored_label(i) >= description.classes.size())
        damaged(parts_.file->path(), fmt::format("label {} is {}, and there are {} classes", i,
                                                 stored_label(i), description.classes.size()));
  }

  std::size_t size() const override { return section_.images; }
  ImageShape shape() const override { return shape_; }
  int classes() const override { return classes_; }
  int label(std::size_t image) const override { return static_cast<int>(stored_label(image)); }
  Bytes pixels(std::size_t image) const override {
    return parts_.pixels.subspan(image * shape_.values(), shape_.values());
  }
  void check() const override {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < size(); ++i) sum = checksum(pixels(i), sum);
    if (sum != section_.pixels_checksum)
      damaged(parts_.file->path(), "the checksum of its pixels does not match");
  }

 private:
  Label stored_label(std::size_t image) const {
    return get<Label>(parts_.labels.subspan(image * sizeof(Label)));
  }

  Parts parts_;
  Section section_;
  ImageShape shape_;
  int classes_;
};

bool has_magic(Bytes bytes) {
  const Bytes magic = std::as_bytes(std::span(packing::kMagic));
  return bytes.size() >= magic.size() && std::ranges::equal(bytes.first(magic.size()), magic);
}

Head head_of(const MappedFile& file) {
  const Bytes bytes = file.bytes();
  if (!has_magic(bytes))
    damaged(file.path(), "it is no file that narrowcast data pack has written");
  if (bytes.size() < sizeof(Head)) damaged(file.path(), "it is too short for a pack of images");
  const auto head = get<Head>(bytes);
  // First: what follows may be other things in other versions.
  if (head.version != packing::kVersion)
    damaged(file.path(),
            fmt::format("it is of version {}; {} can be read", head.version, packing::kVersion));
  if (head.checksum != packing::checksum_of(head)) damaged(file.path(), "its head is damaged");
  return head;
}

Description description_of(const MappedFile& file) {
  const Head head = head_of(file);
  const Bytes bytes = file.bytes();
  if (head.description_offset > bytes.size() ||
      head.description_bytes != bytes.size() - head.description_offset)
    damaged(file.path(), fmt::format("it has {} bytes instead of {}", bytes.size(),
                                     head.description_offset + head.description_bytes));
  const Bytes text = bytes.subspan(head.description_offset);
  if (checksum(text) != head.description_checksum)
    damaged(file.path(), "its description is damaged");
  try {
    Description description =
        packing::parse_description({reinterpret_cast<const char*>(text.data()), text.size()});
    require(packing::pixels_end(description) == head.description_offset, Fault::wire,
            "its parts do not have the sizes that it describes");
    return description;
  } catch (const Error& error) {
    damaged(file.path(), error.what());
  }
}

}  // namespace

DataSet open_pack(const fs::path& path) {
  const auto file = std::make_shared<const MappedFile>(path);
  Description description = description_of(*file);
  const Section& train = description.train;
  const Section& test = description.test;
  const std::uint64_t images = train.images + test.images;
  const Bytes labels = file->bytes().subspan(sizeof(Head), images * sizeof(Label));
  const Bytes pixels =
      file->bytes().subspan(packing::pixels_offset(images), images * description.shape.values());
  const std::size_t train_labels = train.images * sizeof(Label);
  const std::size_t train_pixels = train.images * description.shape.values();
  DataSet set;
  set.train = std::make_unique<PackedImages>(
      Parts{file, labels.first(train_labels), pixels.first(train_pixels)}, description, train);
  set.test = std::make_unique<PackedImages>(
      Parts{file, labels.subspan(train_labels), pixels.subspan(train_pixels)}, description, test);
  set.normal = description.normal;
  set.class_names = std::move(description.classes);
  return set;
}

}  // namespace narrowcast::source
