#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "codec/codec.hpp"
#include "collective/collective.hpp"

// What the additions of an all-reduce cost when their sums are kept in few bits: section 4 of
// R. Han et al., Auto Precision Scaling for Distributed Deep Learning (arXiv 1911.08907).
namespace narrowcast::bench {

struct RoundOffRequest {
  int ranks = 256;
  std::size_t values = 9408;  // weights of ResNet-50's first convolution: 64 x 3 x 7 x 7
  const Codec* codec = nullptr;
  std::uint64_t seed = 1;
  std::function<void(const std::string& what)> before = [](const std::string&) {};
};

// Mean of |(high - low) / high| in percent, where high is the sum in double; sums of zero are left
// out. Empty where the algorithm refuses that way of adding.
struct RoundOff {
  std::string algorithm;
  int group = 0;  // of the hierarchy
  double format_percent = 0;
  std::optional<double> kahan_percent = {};
  double fp32_percent = 0;
  std::optional<double> published_percent = {};  // where ranks and format are the paper's
};

// The exponent of auto precision scaling, k = P - E: the largest that lets no partial sum of any
// ranks overflow. `largest` is the largest magnitude on any rank; 0 where that is no number to
// scale.
int scaling_exponent(const Codec& codec, int ranks, double largest);

// One rank's gradient: what all ranks have in common, and noise of the same size.
std::vector<float> noisy_gradient(const RoundOffRequest& request, int rank);

// The hierarchy with groups of 4, 8, 16, 32 and 64, as far as there are ranks, and the ring; ranks
// are threads of this process.
std::vector<RoundOff> measure_round_off(const RoundOffRequest& request);

}  // namespace narrowcast::bench
