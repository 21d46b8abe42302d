#include <fmt/format.h>

#include "predict/models/draft.hpp"
#include "predict/models/tables.hpp"

// Radford et al. (2019), the smallest of four. An example is a sequence as long as the context. Names
// of tensors are those of the published weights. No layer counts as fully connected in the sense of
// model parallelism: each works on a thousand tokens of an example at once.
namespace narrowcast {
namespace {

constexpr std::size_t kLayers = 12;
constexpr std::size_t kWidth = 768;
constexpr std::size_t kWords = 50257;
constexpr std::size_t kContext = 1024;

double of_all_tokens(double flops) { return static_cast<double>(kContext) * flops; }

ModelLayer layer_of(const std::string& name, double forward_flops) {
  return {.name = name, .forward_flops = forward_flops, .backward_flops = 2 * forward_flops};
}

void add_weight_and_bias(ModelLayer& layer, std::size_t weights, std::size_t biases) {
  layer.tensors = {{layer.name + ".weight", weights}, {layer.name + ".bias", biases}};
}

ModelLayer norm(const std::string& name) {
  ModelLayer layer = layer_of(name, of_all_tokens(kNormFlops * kWidth));
  add_weight_and_bias(layer, kWidth, kWidth);
  return layer;
}

// `more_flops`: of what has no parameters and follows.
ModelLayer linear(const std::string& name, std::size_t inputs, std::size_t outputs,
                  double more_flops = 0) {
  const std::size_t weights = inputs * outputs;
  ModelLayer layer = layer_of(name, of_all_tokens(2.0 * static_cast<double>(weights)) + more_flops);
  add_weight_and_bias(layer, weights, outputs);
  return layer;
}

// A row of each table for each token; they are added, and so are their gradients.
ModelLayer embedding() {
  const double sums = of_all_tokens(kWidth);
  return {.name = "embedding",
          .tensors = {{"wte.weight", kWords * kWidth}, {"wpe.weight", kContext * kWidth}},
          .forward_flops = sums,
          .backward_flops = 2 * sums};
}

// Scores of all pairs of tokens and the means that they weigh: as kernels compute them, with the half
// that is masked.
double attention_flops() { return of_all_tokens(2 * 2.0 * kContext * kWidth); }

void add_block(Model& model, std::size_t number) {
  const std::string name = fmt::format("h.{}.", number);
  model.layers.push_back(norm(name + "ln_1"));
  model.layers.push_back(linear(name + "attn.c_attn", kWidth, 3 * kWidth, attention_flops()));
  model.layers.push_back(linear(name + "attn.c_proj", kWidth, kWidth));
  model.layers.push_back(norm(name + "ln_2"));
  model.layers.push_back(linear(name + "mlp.c_fc", kWidth, 4 * kWidth));
  model.layers.push_back(linear(name + "mlp.c_proj", 4 * kWidth, kWidth));
}

// The last normalisation, and the product with the embedding of words, whose weights it shares.
ModelLayer last_norm_and_head() {
  ModelLayer layer = norm("ln_f");
  const double product = of_all_tokens(2.0 * kWords * kWidth);
  layer.forward_flops += product;
  layer.backward_flops += 2 * product;
  return layer;
}

}  // namespace

Model gpt2_table() {
  Model model = {.name = "gpt2", .layers = {embedding()}};
  for (std::size_t number = 0; number < kLayers; ++number) add_block(model, number);
  model.layers.push_back(last_norm_and_head());
  return model;
}

}  // namespace narrowcast
