#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "data/data.hpp"

// The file that `narrowcast data pack` writes; docs/data.md has the layout.
//
//   head          64 bytes: magic, version, and where the description is, with checksums of both
//   labels        of the images for training, then of those for tests; 4 bytes each
//   pixels        from the next multiple of 64 on, of the same images in the same order
//   description   JSON: sizes, classes, mean and deviation, checksums of the four parts above
//
// The description is last because it is known last: images are written as they are decoded.
namespace narrowcast::packing {

inline constexpr std::array<unsigned char, 8> kMagic = {0x8e, 'N',  'C',  'P',
                                                        '\r', '\n', 0x1a, '\n'};
inline constexpr std::uint32_t kVersion = 1;
inline constexpr std::uint64_t kAlignment = 64;

struct Head {
  std::array<unsigned char, 8> magic = kMagic;
  std::uint32_t version = kVersion;
  std::uint32_t zero = 0;
  std::uint64_t description_offset = 0;
  std::uint64_t description_bytes = 0;
  std::uint64_t description_checksum = 0;
  std::array<std::uint64_t, 2> zeros = {};
  std::uint64_t checksum = 0;  // of everything before it
};
static_assert(sizeof(Head) == kAlignment);

std::uint64_t checksum_of(const Head& head);

using Label = std::uint32_t;

// Images for training, or for tests.
struct Section {
  std::uint64_t images = 0;
  std::uint64_t labels_checksum = 0;
  std::uint64_t pixels_checksum = 0;  // image by image, each with the sum before it as its seed
};

struct Description {
  ImageShape shape;
  std::vector<std::string> classes;
  Normal normal;
  Section train;
  Section test;
};

std::string description_text(const Description& description);
// Fault::wire for what is no description, or cannot be one.
Description parse_description(std::string_view text);

// Where the pixels start, and where they end.
std::uint64_t pixels_offset(std::uint64_t images);
std::uint64_t pixels_end(const Description& description);

}  // namespace narrowcast::packing
