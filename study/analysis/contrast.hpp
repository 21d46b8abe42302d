#pragma once

#include <span>

#include "study/analysis/grouping.hpp"

// How contrasts come about; the list that they stand in is corrected before any is judged.
namespace narrowcast {

// Of pairs of equal seed.
Contrast paired_errors(const BySeed& errors, const BySeed& baseline);
// All runs of both sides stand in pairs of equal seed that ended with the same weights, bit for bit; there is one pair
// at least. A run without a partner may have ended anywhere.
bool end_alike(const CellGroup& group, const CellGroup& baseline);

// Seeds of either side that left no error: each may be the one that went wrong, or had an accident.
struct Missing {
  std::size_t own = 0;
  std::size_t baseline = 0;
};
std::size_t seeds_without_error(const CellGroup& group);

// Times of one side. The bounds of a prediction are its own; a single measurement has none, for how its
// steps scatter does not say how runs do.
struct Timing {
  Estimate mean = {};
  std::vector<double> values = {};        // above 0
  std::optional<double> compute_ms = {};  // of a prediction
};
Timing timing_of(const CellGroup& group);
// Where both have most repetitions: other processors have other times. None when no processor has both.
std::optional<std::string> common_machine(const CellGroup& a, const CellGroup& b);
// There; nothing when there is none such.
Contrast gain_of(const CellGroup& group, const CellGroup& baseline);

// An interval of a product or ratio from those of its factors, on the logarithm: how far they reach adds up
// as independent errors do. None when any of them has none, or reaches 0.
Estimate product(const Estimate& a, const Estimate& b);
Estimate ratio(const Estimate& a, const Estimate& b);

// Equal values by chance are no proof, also when they are 0: errors come in steps of one image, epochs are whole. For
// those with an interval.
bool does_not_scatter(const Estimate& effect);

// Sets `holm` of those that have a p.
void correct(std::span<Contrast* const> list);

Judgement judge_error(const Contrast& contrast, double tolerance, const Missing& missing);
Judgement judge_gain(const Contrast& contrast);

}  // namespace narrowcast
