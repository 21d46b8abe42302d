#pragma once

#include <filesystem>
#include <string>

#include "base/bytes.hpp"

// Files for readers that take their names.
namespace narrowcast::fuzz {

// In memory where there is such a place; gone with the process.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

// A file whose contents change: it is made once and open from then on, which is ten times as fast as
// making one for each input.
class File {
 public:
  explicit File(std::filesystem::path path);
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  const std::filesystem::path& path() const { return path_; }
  const std::filesystem::path& holding(Bytes bytes);

 private:
  std::filesystem::path path_;
  int fd_;
};

}  // namespace narrowcast::fuzz
