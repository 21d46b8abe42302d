#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace narrowcast {

struct Library {
  std::string_view name;
  std::string version;
};

// The outside libraries that the codecs were built with.
std::vector<Library> codec_libraries();

}  // namespace narrowcast
