#include "train/loop/splitting.hpp"

#include <torch/torch.h>

#include <optional>

namespace narrowcast {
namespace {

// Parameters are its own, so that they are named like those of a whole layer.
class SplitLayer final : public Layer {
 public:
  SplitLayer(const SplitLinearOptions& options, ActivationLink& link) : linear_(options, link) {
    register_parameter("weight", linear_->weight);
    register_parameter("bias", linear_->bias);
  }
  torch::Tensor forward(const torch::Tensor& input) override { return linear_->forward(input); }
  const SplitLinearImpl& linear() const { return *linear_; }

 private:
  SplitLinear linear_;
};

template <class Call>
void each_split_layer(const torch::nn::Module& network, const Call& call) {
  for (const auto& item : network.named_modules("", /*include_self=*/false))
    if (const auto* layer = dynamic_cast<const SplitLayer*>(item.value().get()))
      call(item.key(), layer->linear());
}

}  // namespace

LinearMaker split_linear_maker(ActivationLink& link, Parallel parallel, Split split) {
  return [&link, parallel, split,
          made = std::uint64_t{0}](const Workshop::LinearWish& wish) mutable {
    const bool first_of_hybrid = parallel == Parallel::hybrid && made == 0;
    SplitLinearOptions options = {.inputs = wish.inputs, .outputs = wish.outputs, .split = split};
    if (first_of_hybrid) options.input_gradient = InputGradient::partial;
    options.layer = ++made;
    return std::make_shared<SplitLayer>(options, link);
  };
}

SplitLayers split_layers(const torch::nn::Module& network) {
  SplitLayers layers;
  each_split_layer(network, [&](const std::string& name, const SplitLinearImpl& linear) {
    const SplitLinearOptions& options = linear.options();
    const bool rows = options.split == Split::output;
    const Share share = {linear.first(), linear.count()};
    layers[name + ".weight"] = {rows ? 0 : 1, {options.outputs, options.inputs}, share};
    if (rows) layers[name + ".bias"] = {0, {options.outputs}, share};
  });
  return layers;
}

bool splits(const SplitLayers& layers, const std::string& parameter) {
  return layers.contains(parameter);
}

std::vector<std::string> split_parameters(const torch::nn::Module& network) {
  std::vector<std::string> names;
  each_split_layer(network, [&](const std::string& name, const SplitLinearImpl&) {
    names.push_back(name + ".weight");
    names.push_back(name + ".bias");
  });
  return names;
}

bool is_made_for_hybrid(const torch::nn::Module& network) {
  std::optional<InputGradient> first;
  each_split_layer(network, [&](const std::string&, const SplitLinearImpl& linear) {
    if (!first) first = linear.options().input_gradient;
  });
  return first == InputGradient::partial;
}

std::uint64_t whole_elements(const SplitLayers& layers, const std::string& parameter) {
  std::uint64_t elements = 1;
  for (const std::int64_t length : layers.at(parameter).shape) elements *= length;
  return elements;
}

torch::Tensor whole_like(const SplitLayers& layers, const std::string& parameter,
                         const torch::Tensor& part) {
  return torch::empty(layers.at(parameter).shape, part.scalar_type());
}

torch::Tensor whole_of(const SplitLayers& layers, const std::string& parameter,
                       const torch::Tensor& part, ActivationLink& link) {
  const torch::NoGradGuard no_grad;
  const SplitParameter& split = layers.at(parameter);
  std::vector<torch::Tensor> tensors;
  ActivationLink::Parts parts;
  for (int rank = 0; rank < link.size(); ++rank) {
    std::vector<std::int64_t> shape = split.shape;
    std::int64_t& length = shape.at(split.dimension);
    length = share_of(length, rank, link.size()).count;
    torch::Tensor tensor = torch::empty(shape);
    if (rank == link.rank()) tensor.copy_(part);
    parts.emplace_back(tensor.data_ptr<float>(), static_cast<std::size_t>(tensor.numel()));
    tensors.push_back(std::move(tensor));
  }
  link.gather_exactly(parts);
  return torch::cat(tensors, split.dimension);
}

torch::Tensor part_of(const SplitLayers& layers, const std::string& parameter,
                      const torch::Tensor& whole) {
  const SplitParameter& split = layers.at(parameter);
  return whole.narrow(split.dimension, split.share.first, split.share.count).contiguous();
}

}  // namespace narrowcast
