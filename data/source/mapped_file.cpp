#include "data/source/mapped_file.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/descriptor.hpp"
#include "base/error.hpp"

namespace narrowcast {

void damaged(const std::filesystem::path& file, std::string_view why) {
  throw Error(Fault::wire, fmt::format("'{}': {}", file.string(), why));
}

void cannot_read(const std::filesystem::path& file) {
  throw Error(Fault::system,
              fmt::format("cannot read '{}': {}", file.string(), std::strerror(errno)));
}

MappedFile::MappedFile(const std::filesystem::path& file) : path_(file) {
  const Descriptor opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status = {};
  if (!opened.is_open() || ::fstat(opened.get(), &status) != 0) cannot_read(file);
  if (!S_ISREG(status.st_mode)) damaged(file, "it is no file");
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return;
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, opened.get(), 0);
  if (address == MAP_FAILED) cannot_read(file);
  bytes_ = {static_cast<const std::byte*>(address), size};
}

MappedFile::~MappedFile() {
  // munmap takes what mmap gave, which is not const.
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)), bytes_(std::exchange(other.bytes_, {})) {}

}  // namespace narrowcast
