#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.hpp"

namespace narrowcast::cli {

// The whole file, or standard input when the path is empty or "-". What cannot be read is
// Fault::system; waiting for a person to type binary data is Fault::usage.
std::vector<std::byte> read_bytes(const std::string& path, const Console& console);

// The same as little-endian float32; Fault::wire when it ends within a value.
std::vector<float> read_floats(const std::string& path, const Console& console);

// Fault::usage for what is no sensible time to measure for.
void require_seconds(double seconds);

// The words between commas; none may be empty.
std::vector<std::string> split_list(std::string_view text);

}  // namespace narrowcast::cli
