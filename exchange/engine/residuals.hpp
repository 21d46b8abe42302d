#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"

namespace narrowcast {

// What rounding has held back of one tensor on this rank; empty: nothing yet.
struct Residual {
  std::vector<float> sender;
  std::vector<float> owner;  // not zero only where this rank encodes sums again
  std::string passage;       // of the owner's: algorithm and codec, which decide where that is
};

std::string passage_of(std::string_view algorithm, int group, const std::string& codec);
std::string codec_in(const std::string& passage);

// How a tensor travels in a step, as far as residuals go.
struct FeedbackWay {
  bool feedback = false;
  std::string passage = {};  // empty: nobody owns sums there
};

// Makes a residual ready for such a step; nothing of it gets lost. What belongs to an owner of other
// shards goes over to the sender's, and without feedback all of it is added to the values.
void settle(Residual& residual, MutableFloats values, const FeedbackWay& way);

// The values of a residual that are not zero lie within [begin, begin + count).
struct Extension {
  std::size_t begin = 0;
  std::size_t count = 0;
};
Extension extension_of(Floats residual);

}  // namespace narrowcast
