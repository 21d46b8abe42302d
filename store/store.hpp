#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.hpp"

// The face of this room: named arrays in files that are whole or not there. The layout is that of
// safetensors, so anybody can read them; a checksum stands in the metadata.
namespace narrowcast {

enum class Dtype { f32, i64, u8 };

struct Array {
  std::string name;
  Dtype dtype = Dtype::f32;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> bytes;
  bool operator==(const Array&) const = default;
};

Array floats_array(std::string name, std::vector<std::int64_t> shape, Floats values);
// The values of an array of float32; Fault::wire for any other type.
Floats floats_of(const Array& array);

struct Snapshot {
  std::map<std::string, std::string> about;  // the file's metadata
  std::vector<Array> arrays;                 // names are unique

  const Array* find(std::string_view name) const;
  const Array& at(std::string_view name) const;  // Fault::wire when it is not there
};

// Writes a new file beside it, flushes it to the disk and gives it the name: a crash, a full disk or
// a signal leaves what was there. Fault::system names the path and the reason.
void write_snapshot(const std::filesystem::path& file, const Snapshot& snapshot);

// Checks everything: sizes, offsets, the checksum where there is one (ours always have it).
// Fault::wire for a damaged or foreign file, Fault::system for one that cannot be read; both name it.
Snapshot read_snapshot(const std::filesystem::path& file);

// Checkpoints in a folder, by step: checkpoint-000000001234.safetensors. The last `keep` stay.
class Checkpoints {
 public:
  // Makes the folder if need be, and makes sure that it can be written to: Fault::system.
  explicit Checkpoints(std::filesystem::path folder, int keep = 3);

  void save(std::uint64_t step, const Snapshot& snapshot) const;

  struct Found {
    std::uint64_t step = 0;
    Snapshot snapshot;
    std::filesystem::path file;
    std::vector<std::string> refused;  // newer ones that are damaged, a line for each
  };
  // The newest that is good; nothing when there are none at all. Fault::wire when there are some but
  // none of them is good.
  std::optional<Found> latest() const;

 private:
  std::filesystem::path folder_;
  int keep_;
};

}  // namespace narrowcast
