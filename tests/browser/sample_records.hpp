#pragma once

#include <array>
#include <string>
#include <vector>

#include "study/cell.hpp"

// A study that nobody ran: hundreds of cells of every kind, with failures and with text that wants to be HTML.
// The numbers come from a simple model of a step and from noise of a fixed seed.
namespace narrowcast::test {

struct SampleCodec {
  std::string name;
  double bits = 32;
  double cost_ms = 0;  // of encoding and decoding
  double harm = 0;     // percentage points of error
};
const std::array<SampleCodec, 6>& sample_codecs();

std::vector<CellRecord> sample_records();

}  // namespace narrowcast::test
