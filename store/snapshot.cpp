#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <numeric>
#include <set>

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/new_file.hpp"
#include "store/format/header.hpp"
#include "store/format/read.hpp"
#include "store/store.hpp"

namespace narrowcast {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void cannot_read(const fs::path& file, std::string_view why) {
  throw Error(Fault::system, fmt::format("cannot read '{}': {}", file.string(), why));
}

Descriptor open_file(const fs::path& file) {
  Descriptor opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!opened.is_open()) cannot_read(file, std::strerror(errno));
  return opened;
}

std::uint64_t size_of(const Descriptor& opened, const fs::path& file) {
  struct stat status = {};
  if (::fstat(opened.get(), &status) != 0) cannot_read(file, std::strerror(errno));
  if (!S_ISREG(status.st_mode)) cannot_read(file, "it is no file");
  return static_cast<std::uint64_t>(status.st_size);
}

void read_all(const Descriptor& opened, std::uint64_t offset, MutableBytes to,
              const fs::path& file) {
  while (!to.empty()) {
    const ssize_t read = ::pread(opened.get(), to.data(), to.size(), static_cast<off_t>(offset));
    if (read < 0 && errno == EINTR) continue;
    if (read < 0) cannot_read(file, std::strerror(errno));
    if (read == 0) throw Error(Fault::wire, "the file ends too soon");
    to = to.subspan(static_cast<std::size_t>(read));
    offset += static_cast<std::uint64_t>(read);
  }
}

// What is wrong with the bytes is Fault::wire and does not name the file yet.
Snapshot read_opened(const Descriptor& opened, const fs::path& file, format::Foreign foreign) {
  const std::uint64_t size = size_of(opened, file);
  require(size >= format::kLengthBytes, Fault::wire, "it is too short for a safetensors file");
  std::uint64_t length = 0;
  read_all(opened, 0, std::as_writable_bytes(std::span(&length, 1)), file);
  require(length <= std::min(size - format::kLengthBytes, format::kMostHeader), Fault::wire,
          "the header is longer than the file, or the file is not safetensors");
  std::string json(length, '\0');
  read_all(opened, format::kLengthBytes, std::as_writable_bytes(std::span(json)), file);
  const std::uint64_t start = format::kLengthBytes + length;
  format::Header header = format::parse_header(json, size - start);
  require(!header.checksum.empty() || foreign == format::Foreign::accepted, Fault::wire,
          "it has no checksum");
  for (std::size_t i = 0; i < header.places.size(); ++i) {
    std::vector<std::byte>& bytes = header.snapshot.arrays[i].bytes;
    bytes.resize(header.places[i].end - header.places[i].begin);
    read_all(opened, start + header.places[i].begin, bytes, file);
  }
  require(header.checksum.empty() || header.checksum == format::checksum_of(header.snapshot),
          Fault::wire, "the checksum does not match: the file is damaged");
  return std::move(header.snapshot);
}

void require_writable(const Snapshot& snapshot) {
  require(!snapshot.about.contains(std::string(format::kChecksumKey)), Fault::usage,
          "'xxh3' in the metadata is for the checksum");
  std::set<std::string_view> names = {format::kMetadata};
  for (const Array& array : snapshot.arrays) {
    if (!names.insert(array.name).second)
      throw Error(Fault::usage, fmt::format("there are two arrays '{}'", array.name));
    if (format::bytes_of(array) != array.bytes.size())
      throw Error(Fault::usage, fmt::format("array '{}' does not have its shape", array.name));
  }
}

}  // namespace

namespace format {

Snapshot read_file(const fs::path& file, Foreign foreign) {
  const Descriptor opened = open_file(file);
  try {
    return read_opened(opened, file, foreign);
  } catch (const Error& error) {
    if (error.fault() != Fault::wire) throw;
    throw Error(Fault::wire, fmt::format("'{}': {}", file.string(), error.what()));
  }
}

}  // namespace format

Array floats_array(std::string name, std::vector<std::int64_t> shape, Floats values) {
  const Bytes bytes = std::as_bytes(values);
  return {std::move(name), Dtype::f32, std::move(shape), {bytes.begin(), bytes.end()}};
}

Floats floats_of(const Array& array) {
  if (array.dtype != Dtype::f32)
    throw Error(Fault::wire, fmt::format("array '{}' does not hold float32", array.name));
  // operator new aligns for every fundamental type.
  return {reinterpret_cast<const float*>(array.bytes.data()), array.bytes.size() / sizeof(float)};
}

const Array* Snapshot::find(std::string_view name) const {
  const auto found = std::find_if(arrays.begin(), arrays.end(),
                                  [&](const Array& array) { return array.name == name; });
  return found == arrays.end() ? nullptr : &*found;
}

const Array& Snapshot::at(std::string_view name) const {
  if (const Array* found = find(name)) return *found;
  throw Error(Fault::wire, fmt::format("there is no array '{}'", name));
}

void write_snapshot(const fs::path& file, const Snapshot& snapshot) {
  require_writable(snapshot);
  const std::vector<format::Place> places = format::places_of(snapshot.arrays);
  std::vector<std::size_t> order(places.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return places[a].begin < places[b].begin; });
  const std::string header = format::header_text(snapshot, format::checksum_of(snapshot));
  NewFile out(file.string());
  out.write(std::as_bytes(std::span(header)));
  for (const std::size_t i : order) out.write(snapshot.arrays[i].bytes);
  out.take_name();
}

Snapshot read_snapshot(const fs::path& file) {
  return format::read_file(file, format::Foreign::accepted);
}

}  // namespace narrowcast
