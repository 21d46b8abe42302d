#pragma once

#include <filesystem>

#include "store/store.hpp"

namespace narrowcast::format {

// Files without our checksum.
enum class Foreign { accepted, refused };

// As read_snapshot.
Snapshot read_file(const std::filesystem::path& file, Foreign foreign);

}  // namespace narrowcast::format
