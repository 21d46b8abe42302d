#include "cli/output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <optional>
#include <ostream>

#include "base/error.hpp"
#include "base/new_file.hpp"

namespace narrowcast::cli {
namespace {

namespace fs = std::filesystem;

// Where a path leads in the end: a place for a file, or a descriptor that is open already.
struct Destination {
  fs::path path;
  std::optional<int> descriptor;
};

std::optional<int> descriptor_of(const fs::path& folder, const fs::path& name) {
  std::error_code none;
  const fs::path descriptors = fs::canonical("/proc/self/fd", none);
  if (none || folder != descriptors) return std::nullopt;
  const std::string& digits = name.native();
  int number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

// Follows links one by one: a link to nothing stays a link, and /dev/stdout ends at the descriptor
// and not at the name of the file behind it.
Destination destination_of(const std::string& path) {
  constexpr int kMostLinks = 40;  // as the kernel
  fs::path at = path;
  for (int links = 0; links <= kMostLinks; ++links) {
    std::error_code missing;
    const fs::path folder = fs::canonical(at.has_parent_path() ? at.parent_path() : ".", missing);
    if (missing) return {.path = at, .descriptor = {}};
    at = folder / at.filename();
    if (!fs::is_symlink(at, missing)) return {.path = at, .descriptor = {}};
    if (const auto descriptor = descriptor_of(folder, at.filename())) return {at, descriptor};
    at = folder / fs::read_symlink(at, missing);
  }
  errno = ELOOP;
  cannot_write(path);
}

// The bytes follow what was written there before, as `>>` and a shared pipe need it.
void write_through(int opened, const std::string& path, Bytes bytes) {
  Descriptor file(opened);
  if (!file.is_open()) cannot_write(path);
  write_all(file, bytes, path);
  if (!file.close()) cannot_write(path);
}

void replace_file(const std::string& path, Bytes bytes) {
  WatchedFile file(path);
  file->write(bytes);
  file->take_name();
}

bool is_standard_output(const std::string& path) { return path.empty() || path == "-"; }

}  // namespace

void require_sink(const std::string& path, const Console& console) {
  require(!is_standard_output(path) || !console.terminals.out, Fault::usage,
          "binary data does not go to a terminal; redirect it or use -o FILE");
}

void write_bytes(const std::string& path, Bytes bytes, const Console& console) {
  require_sink(path, console);
  if (is_standard_output(path)) {
    console.out.write(reinterpret_cast<const char*>(bytes.data()),
                      static_cast<std::streamsize>(bytes.size()));
    return;
  }
  const Destination to = destination_of(path);
  if (to.descriptor) return write_through(::fcntl(*to.descriptor, F_DUPFD_CLOEXEC, 0), path, bytes);
  std::error_code ignored;
  const fs::file_status status = fs::status(to.path, ignored);
  if (fs::exists(status) && !fs::is_regular_file(status))
    return write_through(::open(to.path.c_str(), O_WRONLY | O_CLOEXEC), path, bytes);
  // The folder alone decides about a new name, but who may not write a file may not replace it.
  if (fs::exists(status) && ::faccessat(AT_FDCWD, to.path.c_str(), W_OK, AT_EACCESS) != 0)
    cannot_write(path);
  replace_file(to.path, bytes);
}

}  // namespace narrowcast::cli
