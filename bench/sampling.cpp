#include "bench/sampling.hpp"

#include "bench/machine.hpp"

namespace narrowcast::bench {
namespace {

constexpr std::size_t kUsualSamples = std::size_t{1} << 20;
// Where the scale is the largest of all samples, the error depends on how many there are.
constexpr std::size_t kPaperSamples = 25 * kUsualSamples;

}  // namespace

Floats Samples::first(std::size_t count) {
  const std::size_t drawn = values_.size();
  if (drawn < count) {
    require_memory_for_tensors(1 + kAccuracyTensors, count);
    values_.resize(count);
    from_.draw(stream_of({.seed = 1}), drawn, MutableFloats(values_).subspan(drawn));
  }
  return Floats(values_).first(count);
}

SampledError measure_error(const Codec& codec, Samples& samples, std::optional<std::size_t> count) {
  const auto published = published_error(codec, samples.distribution());
  const std::size_t taken = count.value_or(published ? kPaperSamples : kUsualSamples);
  const Stream dice = stream_of({.seed = 2});  // rounding must not know the samples
  return {.samples = taken,
          .accuracy = measure_accuracy(codec, samples.first(taken), dice),
          .published = published};
}

}  // namespace narrowcast::bench
