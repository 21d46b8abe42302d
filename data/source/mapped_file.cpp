#include "data/source/mapped_file.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.hpp"

namespace narrowcast {
namespace {

struct stat status_of(const Descriptor& opened, const std::filesystem::path& file) {
  struct stat status = {};
  if (::fstat(opened.get(), &status) != 0) cannot_read(file);
  return status;
}

}  // namespace

void damaged(const std::filesystem::path& file, std::string_view why) {
  throw Error(Fault::wire, fmt::format("'{}': {}", file.string(), why));
}

void cannot_read(const std::filesystem::path& file) {
  throw Error(Fault::system,
              fmt::format("cannot read '{}': {}", file.string(), std::strerror(errno)));
}

Descriptor open_regular(const std::filesystem::path& file) {
  Descriptor opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!opened.is_open()) cannot_read(file);
  if (!S_ISREG(status_of(opened, file).st_mode)) damaged(file, "it is no file");
  return opened;
}

MappedFile::MappedFile(const std::filesystem::path& file) : path_(file) {
  const Descriptor opened = open_regular(file);
  const struct stat status = status_of(opened, file);
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
