#pragma once

#include <filesystem>
#include <string_view>

#include "base/bytes.hpp"
#include "base/descriptor.hpp"

namespace narrowcast {

// Fault::wire, one line that names the file.
[[noreturn]] void damaged(const std::filesystem::path& file, std::string_view why);

// Fault::system with the system's reason (errno).
[[noreturn]] void cannot_read(const std::filesystem::path& file);

// To read from; Fault::wire for a folder, a pipe or a device, which are never waited for.
Descriptor open_regular(const std::filesystem::path& file);

// A file in memory, read when it is looked at and shared by all processes that do.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& file);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&&) = delete;

  const std::filesystem::path& path() const { return path_; }
  Bytes bytes() const { return bytes_; }

 private:
  std::filesystem::path path_;
  Bytes bytes_;
};

}  // namespace narrowcast
