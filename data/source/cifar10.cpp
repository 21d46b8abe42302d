#include <fmt/core.h>

#include <array>
#include <memory>

#include "base/error.hpp"
#include "data/source/mapped_file.hpp"
#include "data/source/source.hpp"

namespace narrowcast::source {
namespace {

namespace fs = std::filesystem;

constexpr std::array kClassNames = {"airplane", "automobile", "bird",  "cat",  "deer",
                                    "dog",      "frog",       "horse", "ship", "truck"};
constexpr int kClasses = static_cast<int>(kClassNames.size());
constexpr ImageShape kShape = {.channels = 3, .height = 32, .width = 32};
constexpr std::size_t kPixels = 3072;
constexpr std::size_t kRecord = 1 + kPixels;  // the label, then the pixels
constexpr std::array kTrainFiles = {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                                    "data_batch_4.bin", "data_batch_5.bin"};

// Files of equally many records.
class CifarImages final : public Images {
 public:
  explicit CifarImages(std::vector<MappedFile> files) : files_(std::move(files)) {
    for (const MappedFile& file : files_) require_good(file);
    each_ = files_[0].bytes().size() / kRecord;
  }

  std::size_t size() const override { return each_ * files_.size(); }
  ImageShape shape() const override { return kShape; }
  int classes() const override { return kClasses; }
  int label(std::size_t image) const override { return std::to_integer<int>(record(image)[0]); }
  Bytes pixels(std::size_t image) const override { return record(image).subspan(1); }

 private:
  Bytes record(std::size_t image) const {
    return files_[image / each_].bytes().subspan(image % each_ * kRecord, kRecord);
  }

  static void require_good(const MappedFile& file) {
    const std::size_t size = file.bytes().size();
    if (size == 0 || size % kRecord != 0)
      damaged(file.path(),
              fmt::format("{} bytes are no whole number of records of {}", size, kRecord));
    for (std::size_t at = 0; at < size; at += kRecord)
      if (const int label = std::to_integer<int>(file.bytes()[at]); label >= kClasses)
        damaged(file.path(), fmt::format("label {} is {}, and there are {} classes", at / kRecord,
                                         label, kClasses));
  }

  std::vector<MappedFile> files_;
  std::size_t each_ = 0;
};

MappedFile open_file(const fs::path& folder, const char* name) {
  std::error_code ignored;
  if (!fs::exists(folder / name, ignored))
    throw Error(Fault::usage, fmt::format("folder '{}' has no {}", folder.string(), name));
  return MappedFile(folder / name);
}

}  // namespace

bool is_cifar10(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(folder / kTrainFiles[0], ignored);
}

DataSet open_cifar10(const fs::path& folder) {
  std::vector<MappedFile> train;
  for (const char* name : kTrainFiles) train.push_back(open_file(folder, name));
  std::vector<MappedFile> test;
  test.push_back(open_file(folder, "test_batch.bin"));
  // All six have 10,000 images, so one that was cut between two of them is found, too.
  for (const std::vector<MappedFile>* files : {&train, &test})
    for (const MappedFile& file : *files)
      if (file.bytes().size() != train[0].bytes().size())
        damaged(file.path(), fmt::format("it has {} bytes, and '{}' {}", file.bytes().size(),
                                         kTrainFiles[0], train[0].bytes().size()));
  DataSet set;
  set.train = std::make_unique<CifarImages>(std::move(train));
  set.test = std::make_unique<CifarImages>(std::move(test));
  set.normal = {.mean = {0.4914F, 0.4822F, 0.4465F}, .deviation = {0.2470F, 0.2435F, 0.2616F}};
  set.class_names.assign(kClassNames.begin(), kClassNames.end());
  return set;
}

}  // namespace narrowcast::source
