#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "predict/models.hpp"

// What the tables are written with.
namespace narrowcast {

// Of a normalisation, for each value: sums of values and of squares, and then scale and shift.
inline constexpr double kNormFlops = 5;

// A network in the making, layer after layer. It keeps track of the size of what travels between them,
// so that a table says what its paper says and no more. Padding is computed like everything else;
// biases, activations, pooling and sums of branches are left out.
class ModelDraft {
 public:
  struct Maps {
    std::size_t channels = 0;
    std::size_t height = 0;
    std::size_t width = 0;
  };
  struct Conv {
    std::size_t outputs = 0;
    std::size_t kernel = 3;
    std::size_t stride = 1;
    std::size_t dilation = 1;
    std::optional<std::size_t> pad = {};  // none: half the kernel, which keeps the size
  };
  struct Pool {
    std::size_t kernel = 3;
    std::size_t stride = 2;
    std::size_t pad = 0;
  };

  ModelDraft(std::string_view name, const Maps& input);

  ModelDraft& conv(const std::string& name, const Conv& shape);       // with a bias
  ModelDraft& conv_norm(const std::string& name, const Conv& shape);  // "conv", no bias, and "norm"
  // A convolution with weights of its own at every place.
  ModelDraft& local(const std::string& name, std::size_t outputs);
  // Fully connected with everything before it.
  ModelDraft& linear(const std::string& name, std::size_t outputs);
  // Rows are the steps of a sequence, of which the last one counts.
  ModelDraft& lstm(const std::string& name, std::size_t cells, int layers);
  ModelDraft& pool(const Pool& shape);
  ModelDraft& pool_over_border(const Pool& shape);  // the last window may hang over it
  ModelDraft& global_pool();

  const Maps& maps() const { return maps_; }
  // For branches: what the next layer sees.
  ModelDraft& go_on_from(const Maps& maps);

  Model done() { return std::move(model_); }

 private:
  // The first layer of all needs no gradient of its input, which costs as much as `input_flops`.
  void add(ModelLayer layer, double input_flops);
  void convolve(const std::string& name, const Conv& shape);  // without a bias

  Model model_;
  Maps maps_;
};

}  // namespace narrowcast
