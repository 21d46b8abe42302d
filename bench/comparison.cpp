#include "bench/comparison.hpp"

#include "bench/accuracy.hpp"
#include "bench/machine.hpp"

namespace narrowcast::bench {
namespace {

constexpr std::string_view kSpecs[] = {
    "fp32",    "bf16",        "fp16",        "natural", "dynamic8", "bnb8",
    "linear8", "qsgd:bits=8", "e4m3",        "e5m2",    "mxfp8",    "mxfp6",
    "mxfp4",   "qsgd:bits=4", "qsgd:bits=2", "tern",    "onebit",
};

}  // namespace

std::span<const std::string_view> comparison_specs() { return kSpecs; }

std::vector<Comparison> compare_codecs(const ComparisonOptions& options) {
  // Beside the bench, the accuracy has a message and decoded values of its own.
  require_memory_for_tensors(CodecBench::kTensors + kAccuracyTensors, options.values);
  Team alone(1);
  CodecBench bench(options.values, alone);
  std::vector<Comparison> rows;
  for (const std::string_view spec : kSpecs) {
    options.before(spec);
    const Accuracy accuracy = measure_accuracy(*make_codec(spec), bench.input(), {});
    rows.push_back({bench.measure(spec, options.seconds), accuracy.distortion});
  }
  return rows;
}

}  // namespace narrowcast::bench
