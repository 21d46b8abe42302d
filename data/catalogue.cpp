#include <fmt/core.h>

#include <cstdlib>
#include <optional>

#include "base/error.hpp"
#include "data/data.hpp"
#include "data/source/source.hpp"
#include "data/source/statistics.hpp"

namespace narrowcast {
namespace {

namespace fs = std::filesystem;

using Recognise = bool (*)(const fs::path&);
using Open = DataSet (*)(const fs::path&);

// A set that files have, by name.
struct Row {
  DataRow about;
  std::vector<std::string_view> folders;  // that it may be in, below where names are looked for
  Recognise is_there;
  Open open;
  Normal normal;
  std::vector<std::string> class_names;  // empty: as the layout has them
  fs::path installed;                    // where a package of the system puts it
  std::string_view advice;               // for who does not have it
};

const std::vector<Row>& rows() {
  static const std::vector<Row> kRows = {
      {.about = {"fashion-mnist", "60,000 + 10,000 grey images of 28x28, clothes"},
       .folders = {"fashion-mnist"},
       .is_there = source::is_idx,
       .open = source::open_idx,
       .normal = {.mean = {0.2860F}, .deviation = {0.3530F}},
       .class_names = {"T-shirt/top", "trouser", "pullover", "dress", "coat", "sandal", "shirt",
                       "sneaker", "bag", "ankle boot"},
       .installed = "/usr/share/datasets/fashion-mnist",
       .advice = "apt-get install dataset-fashion-mnist"},
      {.about = {"mnist", "60,000 + 10,000 grey images of 28x28, digits"},
       .folders = {"mnist", "MNIST/raw"},
       .is_there = source::is_idx,
       .open = source::open_idx,
       .normal = {.mean = {0.1307F}, .deviation = {0.3081F}},
       .class_names = {},
       .installed = {},
       .advice = "put its four IDX files, plain or .gz, into a folder and name that"},
      {.about = {"cifar10", "50,000 + 10,000 images of 32x32 in colour, animals and vehicles"},
       .folders = {"cifar10", "cifar-10-batches-bin"},
       .is_there = source::is_cifar10,
       .open = source::open_cifar10,
       .normal = {.mean = {0.4914F, 0.4822F, 0.4465F}, .deviation = {0.2470F, 0.2435F, 0.2616F}},
       .class_names = {},
       .installed = {},
       .advice = "put the files of its binary version into a folder and name that"},
  };
  return kRows;
}

// The folder, unless it is empty or holds nothing of that name.
std::optional<fs::path> find_below(const Row& row, const fs::path& folder) {
  if (folder.empty()) return std::nullopt;
  for (const std::string_view below : row.folders)
    if (row.is_there(folder / below)) return folder / below;
  return std::nullopt;
}

fs::path find_named(const Row& row, const fs::path& wished) {
  const char* variable = std::getenv("NARROWCAST_DATA");
  const fs::path usual = variable == nullptr ? "" : variable;
  for (const fs::path& folder : {wished, wished.empty() ? usual : fs::path()}) {
    if (const auto found = find_below(row, folder)) return *found;
    // A folder with MNIST's layout may be any of several sets; where one comes from a package, it is
    // taken for that one only when someone says so.
    const bool meant = row.installed.empty() || !wished.empty();
    if (!folder.empty() && meant && row.is_there(folder)) return folder;
  }
  if (wished.empty() && !row.installed.empty() && row.is_there(row.installed)) return row.installed;
  const fs::path where = wished.empty() ? usual : wished;
  throw Error(Fault::usage,
              fmt::format("there is no {}{}: {}{}", row.about.name,
                          where.empty() ? "" : fmt::format(" in '{}'", where.string()), row.advice,
                          where.empty() && row.installed.empty() ? " with NARROWCAST_DATA" : ""));
}

DataSet open_named(const Row& row, const fs::path& wished) {
  DataSet set = row.open(find_named(row, wished));
  set.normal = row.normal;
  if (!row.class_names.empty()) set.class_names = row.class_names;
  return set;
}

DataSet open_path(const fs::path& path) {
  if (fs::is_directory(path)) {
    if (source::is_idx(path)) return source::open_idx(path);
    if (source::is_cifar10(path)) return source::open_cifar10(path);
    throw Error(
        Fault::usage,
        fmt::format("folder '{}' has neither the layout of MNIST nor CIFAR-10's binary one; "
                    "folders of JPEGs become a file with: narrowcast data pack",
                    path.string()));
  }
  return source::open_pack(path);
}

[[noreturn]] void refuse_unknown(const std::string& what) {
  std::string names;
  for (const DataRow& row : data_sets())
    names += (names.empty() ? "" : ", ") + std::string(row.name);
  throw Error(Fault::usage, fmt::format("'{}' is no data set ({}), folder or file", what, names));
}

DataSet open_any(const DataWish& wish) {
  if (wish.what == "synthetic") return source::make_synthetic(wish);
  for (const Row& row : rows())
    if (row.about.name == wish.what) return open_named(row, wish.folder);
  std::error_code ignored;
  if (wish.what.empty() || !fs::exists(wish.what, ignored)) refuse_unknown(wish.what);
  return open_path(wish.what);
}

}  // namespace

std::span<const DataRow> data_sets() {
  static const std::vector<DataRow> kDataSets = [] {
    std::vector<DataRow> all;
    for (const Row& row : rows()) all.push_back(row.about);
    all.push_back({"synthetic", "made, not read: any size, a pattern for each class, and noise"});
    return all;
  }();
  return kDataSets;
}

DataSet open_data(const DataWish& wish) {
  DataSet set = open_any(wish);
  set.name = wish.what;
  set.fingerprint = fingerprint_of(*set.train, *set.test);
  return set;
}

}  // namespace narrowcast
