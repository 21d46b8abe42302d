#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "study/analysis.hpp"

namespace narrowcast {

// Two sides in the same surroundings. Effects are those of b against a.
struct SideBySide {
  Cell cell = {};         // what both share
  Estimate a_error = {};  // last test error, percent
  Estimate b_error = {};
  // Seeds without an error, of a side with any error: as in Accuracy.
  std::size_t a_missing = 0;
  std::size_t b_missing = 0;
  std::optional<Contrast> error = {};  // paired by seed where two seeds are common, else by Welch
  Estimate a_step_ms = {};
  Estimate b_step_ms = {};
  std::optional<Contrast> gain = {};  // a's step over b's; as in Speed
  bool elsewhere = false;             // no gain, because no processor has times of both
};

struct SidesCompared {
  std::vector<SideBySide> rows = {};
  // With records that are done on one side only: cells without their seeds.
  std::vector<Cell> only_a = {};
  std::vector<Cell> only_b = {};
};

// Two lists of records of the same cells, such as before and after a change. Errors and gains are
// corrected each for itself; `tolerance` as in Study.
SidesCompared compare_records(std::span<const CellRecord> a, std::span<const CellRecord> b,
                              double tolerance);

// Two codecs of one list, by their names or as variant_of has them, in all surroundings; Fault::usage for one
// that no record has.
struct CodecPair {
  std::string_view a;
  std::string_view b;
};
SidesCompared compare_codecs(std::span<const CellRecord> records, const CodecPair& codecs,
                             double tolerance);

}  // namespace narrowcast
