#include "data/packing/survey.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "base/checksum.hpp"
#include "base/error.hpp"

namespace narrowcast::packing {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kTestShare = 10;

[[noreturn]] void refuse(const fs::path& path, std::string_view why) {
  throw Error(Fault::usage, fmt::format("'{}': {}", path.string(), why));
}

// What is in a folder and not hidden, by name.
std::vector<fs::directory_entry> listing(const fs::path& folder) {
  std::error_code failed;
  std::vector<fs::directory_entry> entries;
  for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end;
       entry.increment(failed))
    if (!entry->path().filename().string().starts_with('.')) entries.push_back(*entry);
  if (failed)
    throw Error(Fault::system,
                fmt::format("cannot read '{}': {}", folder.string(), failed.message()));
  std::sort(entries.begin(), entries.end(),
            [](const auto& a, const auto& b) { return a.path().filename() < b.path().filename(); });
  return entries;
}

std::vector<fs::path> folders_in(const fs::path& folder) {
  std::vector<fs::path> folders;
  for (const fs::directory_entry& entry : listing(folder))
    if (entry.is_directory()) folders.push_back(entry.path());
  if (folders.empty()) refuse(folder, "it has no class folders");
  return folders;
}

bool is_jpeg_name(const fs::path& file) {
  std::string end = file.extension().string();
  std::transform(end.begin(), end.end(), end.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return end == ".jpg" || end == ".jpeg";
}

std::vector<fs::path> images_in(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : listing(folder)) {
    if (entry.is_directory() || !is_jpeg_name(entry.path()))
      refuse(entry.path(), "a class folder holds nothing but .jpg and .jpeg files");
    files.push_back(entry.path());
  }
  if (files.empty()) refuse(folder, "it has no images");
  return files;
}

std::uint64_t hash_of(const fs::path& file) {
  const std::string name = file.filename().string();
  return checksum(std::as_bytes(std::span(name)));
}

// Every tenth, in an order that has nothing to do with names.
void set_aside(std::vector<fs::path> files, Label label, Survey& survey) {
  std::sort(files.begin(), files.end(), [](const fs::path& a, const fs::path& b) {
    return std::pair(hash_of(a), a) < std::pair(hash_of(b), b);
  });
  const auto is_test = [&](std::size_t i) { return i % kTestShare == kTestShare / 2 - 1; };
  std::vector<Entry> train;
  std::vector<Entry> test;
  for (std::size_t i = 0; i < files.size(); ++i)
    (is_test(i) ? test : train).push_back({files[i], label});
  for (auto [from, to] : {std::pair(&train, &survey.train), std::pair(&test, &survey.test)}) {
    std::sort(from->begin(), from->end(),
              [](const Entry& a, const Entry& b) { return a.file < b.file; });
    to->insert(to->end(), from->begin(), from->end());
  }
}

Survey survey_undivided(const fs::path& folder) {
  Survey found;
  for (const fs::path& each : folders_in(folder)) {
    set_aside(images_in(each), static_cast<Label>(found.classes.size()), found);
    found.classes.push_back(each.filename().string());
  }
  if (found.test.empty())
    refuse(folder, "no class has enough images to set some aside for tests; make train/ and test/");
  return found;
}

Survey survey_divided(const fs::path& train, const fs::path& test) {
  Survey found;
  for (const fs::path& folder : folders_in(train)) {
    for (const fs::path& file : images_in(folder))
      found.train.push_back({file, static_cast<Label>(found.classes.size())});
    found.classes.push_back(folder.filename().string());
  }
  for (const fs::path& folder : folders_in(test)) {
    const auto known =
        std::find(found.classes.begin(), found.classes.end(), folder.filename().string());
    if (known == found.classes.end())
      refuse(folder, fmt::format("'{}' has no class of that name", train.string()));
    for (const fs::path& file : images_in(folder))
      found.test.push_back({file, static_cast<Label>(known - found.classes.begin())});
  }
  return found;
}

}  // namespace

Survey survey(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) refuse(folder, "it is no folder");
  const bool val = fs::is_directory(folder / "val", ignored);
  const bool test = fs::is_directory(folder / "test", ignored);
  if (!fs::is_directory(folder / "train", ignored) || (!val && !test))
    return survey_undivided(folder);
  if (val && test) refuse(folder, "it has val/ and test/; which is for tests?");
  return survey_divided(folder / "train", folder / (val ? "val" : "test"));
}

}  // namespace narrowcast::packing
