#pragma once

#include <cstddef>
#include <cstdint>
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

// Digits alone, 64 bits; Fault::usage otherwise, naming `what` was wanted.
std::uint64_t parse_number(std::string_view text, std::string_view what);

// "1000", "64K", "25M", "1G": a count of at least 1, in units of 1024. Fault::usage otherwise.
std::size_t parse_count(std::string_view text);

// Fault::usage for what is no sensible time to measure for.
void require_seconds(double seconds);

// The words between commas; none may be empty.
std::vector<std::string> split_list(std::string_view text);

// The inverse of parse_count, where it is short: 65536 is "64K".
std::string count_text(std::size_t count);

}  // namespace narrowcast::cli
