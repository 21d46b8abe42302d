#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "bench/accuracy.hpp"
#include "bench/published.hpp"
#include "codec/samples.hpp"

// The errors of codecs on known distributions.
namespace narrowcast::bench {

// The samples of one distribution, drawn as far as they are needed.
class Samples {
 public:
  explicit Samples(const Distribution& from) : from_(from) {}

  std::string_view distribution() const { return from_.name; }

  // Fault::system when the machine has not the memory to measure an accuracy on them.
  Floats first(std::size_t count);

 private:
  const Distribution& from_;
  std::vector<float> values_;
};

struct SampledError {
  std::size_t samples = 0;
  Accuracy accuracy;
  std::optional<PublishedError> published;
};

// Without a number of samples: as many as the paper took where its figures stand beside ours, and a
// million elsewhere.
SampledError measure_error(const Codec& codec, Samples& samples, std::optional<std::size_t> count);

}  // namespace narrowcast::bench
