#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "store/store.hpp"

// The header of a file in safetensors' layout: JSON that says what lies where in the data after it.
//
// Our files have "xxh3" in the metadata, 16 hexadecimal digits. It is the XXH3-64 of, one after the
// other, a description of what is in the file, and the bytes of each array in the order of their
// names; each takes the value of what comes before it as its seed, the first 0. The description is
// JSON without blanks, everything in it in the order of names,
//   {"metadata":{key:value,...},"arrays":{name:{"dtype":...,"shape":[...]},...}}
// so that neither the order of a file nor the way in which its JSON is written changes the value.
namespace narrowcast::format {

inline constexpr std::size_t kLengthBytes = 8;
inline constexpr std::uint64_t kMostHeader = 100'000'000;  // what other readers accept
inline constexpr std::string_view kMetadata = "__metadata__";
inline constexpr std::string_view kChecksumKey = "xxh3";

// Where an array lies in the data.
struct Place {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

struct Header {
  Snapshot snapshot;          // the arrays have no bytes yet
  std::vector<Place> places;  // of its arrays
  std::string checksum;       // empty in files that others wrote
};

// As its shape says; Fault::wire when that is more than 64 bits can count.
std::uint64_t bytes_of(const Array& array);

// The places of arrays without gaps, those with the widest values first, so that all are aligned.
std::vector<Place> places_of(const std::vector<Array>& arrays);

// With its length before it and blanks after it, so that the data starts at a multiple of 8.
std::string header_text(const Snapshot& snapshot, std::string_view checksum);

// Fault::wire unless the arrays cover exactly `data_bytes`, each as many as its shape says.
Header parse_header(std::string_view json, std::uint64_t data_bytes);

std::string checksum_of(const Snapshot& snapshot);

}  // namespace narrowcast::format
