#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

// Numbers as people write them, on the command line and in studies.
namespace narrowcast {

// Digits alone, 64 bits; Fault::usage otherwise, naming `what` was wanted.
std::uint64_t parse_number(std::string_view text, std::string_view what);

// "1000", "64K", "25M", "1G": a count of at least 1, in units of 1024. Fault::usage otherwise.
std::size_t parse_count(std::string_view text);

// The inverse of parse_count, where it is short: 65536 is "64K".
std::string count_text(std::size_t count);

}  // namespace narrowcast
