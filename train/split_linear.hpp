#pragma once

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

#include <cstdint>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "collective/collective.hpp"
#include "plan/plan.hpp"

// Fully connected layers of which every rank has a part. All ranks see the same input and get the
// same output, bit for bit; activations travel forward and error gradients backward, encoded.
namespace narrowcast {

// A matrix that travels whole or in parts; equal on all ranks.
struct Cargo {
  std::uint64_t layer = 0;  // whose dice are thrown
  std::size_t rows = 1;     // of the matrix and of each part, for codecs that go by columns
};

// How the parts talk to each other: one for all split layers of a network. One thread calls it, in
// the same order on all ranks. Where there is one rank only, nothing travels and nothing is rounded.
class ActivationLink {
 public:
  static constexpr std::uint32_t kChannels = 5;  // that it uses, from `channel` on

  // Scaling and error feedback are for sums of gradients over time: Fault::usage.
  ActivationLink(Transport& net, std::uint32_t channel, const Way& activations, const Way& errors,
                 std::uint64_t seed);
  ~ActivationLink();

  int rank() const;
  int size() const;
  void set_step(std::uint64_t step);  // whose dice are thrown; each call of a step throws its own

  // One for each rank: parts[r] is rank r's.
  using Parts = std::vector<MutableFloats>;

  // All ranks end with all parts.
  void gather_forward(const Parts& parts, const Cargo& cargo);
  void gather_backward(const Parts& parts, const Cargo& cargo);
  void sum_forward(MutableFloats values, const Cargo& cargo);
  void sum_backward(MutableFloats values, const Cargo& cargo);
  // parts[r] of all ranks is summed at rank r.
  void scatter_backward(const Parts& parts, const Cargo& cargo);

  // A transfer that goes on in a thread of the link. The buffers are the link's until it is over,
  // which the destructor waits for.
  class Underway {
   public:
    Underway(ActivationLink& link, std::future<void> done);
    Underway(Underway&& other) noexcept = default;
    ~Underway();
    void wait();  // throws what went wrong

   private:
    ActivationLink* link_;
    std::future<void> done_;
  };
  // Each kind has a thread and an order of its own, so none waits for the others. While one of these
  // is under way, do not call the same kind directly.
  [[nodiscard]] Underway start_gather_backward(const Parts& parts, const Cargo& cargo);
  [[nodiscard]] Underway start_sum_backward(MutableFloats values, const Cargo& cargo);
  // For whole sub-batches, as activations and as errors; not in the way of the layers' own.
  [[nodiscard]] Underway start_gather_ahead(const Parts& parts, const Cargo& cargo);
  [[nodiscard]] Underway start_scatter_behind(const Parts& parts, const Cargo& cargo);

  // As it is, whatever the codecs.
  void gather_exactly(const Parts& parts);

  struct Costs {
    double encode_ms = 0;
    double wire_ms = 0;
    double decode_ms = 0;
    double wait_ms = 0;  // that the caller stood still
    std::map<std::string, std::uint64_t> bytes_by_codec = {};
    std::uint64_t fp32_bytes = 0;
  };
  Costs take_costs();  // since the last call; when nothing is under way

 private:
  class Lines;
  std::unique_ptr<Lines> lines_;
};

// Whether the gradient of the input is summed over the ranks here, or left as this rank's part of it
// for somebody else to sum.
enum class InputGradient { summed, partial };

struct SplitLinearOptions {
  std::int64_t inputs = 0;
  std::int64_t outputs = 0;
  Split split = Split::output;
  InputGradient input_gradient = InputGradient::summed;
  std::uint64_t layer = 0;  // whose dice are thrown; different for each layer
};

// Rows or columns [first, first + count) of `whole`: as even as can be, the first ranks have one more.
struct Share {
  std::int64_t first = 0;
  std::int64_t count = 0;
};
Share share_of(std::int64_t whole, int rank, int ranks);

// Its parameters `weight` and `bias` are this rank's rows (output) or columns (input; the bias is
// whole and equal on all ranks) of those that an unsplit torch::nn::Linear would have. They are drawn
// like that one's, whole, from torch's default generator: ranks of equal seed have parts of one
// layer, and as many numbers are drawn as without a split.
class SplitLinearImpl : public torch::nn::Module {
 public:
  SplitLinearImpl(const SplitLinearOptions& options, ActivationLink& link);
  torch::Tensor forward(const torch::Tensor& input);

  // This rank's parts of an unsplit layer's weight and bias.
  void take_parts_of(const torch::Tensor& weight, const torch::Tensor& bias);

  const SplitLinearOptions& options() const { return options_; }
  // First row or column that this rank has, and how many.
  std::int64_t first() const { return share_.first; }
  std::int64_t count() const { return share_.count; }

  torch::Tensor weight;
  torch::Tensor bias;

 private:
  SplitLinearOptions options_;
  ActivationLink* link_;
  Share share_;
};
TORCH_MODULE(SplitLinear);

}  // namespace narrowcast
