#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/bytes.hpp"
#include "base/random.hpp"

// Numbers to try codecs on. Value i of a distribution is a pure function of (stream, i), so any
// part of a tensor can be drawn by itself.
namespace narrowcast {

struct Distribution {
  std::string_view name;
  std::string_view meaning;
  // Fills `out` with the values from first_index on.
  void (*draw)(const Stream& stream, std::uint64_t first_index, MutableFloats out);
};

std::span<const Distribution> distributions();

// Fault::usage for an unknown name; the message lists the valid ones.
const Distribution& distribution(std::string_view name);

}  // namespace narrowcast
