#include "codec/ladder.hpp"

#include <algorithm>
#include <cmath>

namespace narrowcast {
namespace {

// The largest float that is not above x, so that "> threshold" means the same for floats.
float floor_to_float(double x) {
  const auto f = static_cast<float>(x);
  return static_cast<double>(f) > x ? std::nextafter(f, 0.0f) : f;
}

// Truncating keeps what is a magnitude already; the ratio to a scale may be off by a few roundings.
constexpr double kAlmost = 1 - 0x1p-21;

bool truncates(Search search, std::size_t index) {
  return search != Search::nearest && (index % 2 == 0) == (search == Search::paper_even);
}

}  // namespace

Ladder::Ladder(const std::vector<double>& magnitudes, Search search) : steps_{magnitudes.front()} {
  for (std::size_t i = 0; i + 1 < magnitudes.size(); ++i) {
    const double here = magnitudes[i];
    const double next = magnitudes[i + 1];
    if (here == next) continue;
    borders_.push_back(truncates(search, i) ? next * kAlmost : (here + next) / 2);
    steps_.push_back(next);
  }
}

kernel::Codebook::Side Ladder::side(std::uint8_t sign) const {
  kernel::Codebook::Side side;
  for (std::size_t rank = 0; rank < steps_.size(); ++rank)
    side.codes.push_back(static_cast<std::uint8_t>(rank | sign));
  for (const double border : borders_) side.thresholds.push_back(floor_to_float(border));
  return side;
}

double Ladder::worst_error() const {
  double worst = 0;
  for (std::size_t i = 0; i < borders_.size(); ++i)
    worst = std::max({worst, borders_[i] - steps_[i], steps_[i + 1] - borders_[i]});
  return worst;
}

double Ladder::worst_relative_error() const {
  double worst = 0;
  for (std::size_t i = 1; i < borders_.size(); ++i)
    worst = std::max(worst,
                     std::max(borders_[i] - steps_[i], steps_[i + 1] - borders_[i]) / borders_[i]);
  return worst;
}

double Ladder::first_error() const { return std::max(borders_[0], steps_[1] - borders_[0]); }

}  // namespace narrowcast
