#include "train/networks/layers.hpp"

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "train/networks/mask.hpp"

namespace narrowcast {
namespace {

// Keeps dropout's dice apart from those of codecs, which number tensors from 0 or by hash.
constexpr std::uint64_t kDropoutTensors = 0x64726f706f757400;

torch::nn::Conv2dOptions conv_options(const ConvShape& shape) {
  const std::int64_t pad = shape.pad < 0 ? shape.kernel / 2 * shape.dilation : shape.pad;
  return torch::nn::Conv2dOptions(shape.inputs, shape.outputs, shape.kernel)
      .stride(shape.stride)
      .padding(pad)
      .dilation(shape.dilation);
}

void start_by_he(const torch::Tensor& weight) {
  torch::nn::init::kaiming_normal_(weight, 0, torch::kFanIn, torch::kReLU);
}

std::shared_ptr<Chain> normed(const ConvShape& shape) {
  const torch::nn::Conv2d plain(conv_options(shape).bias(false));
  start_by_he(plain->weight);
  auto chain = std::make_shared<Chain>();
  chain->add("conv", plain).add("norm", torch::nn::BatchNorm2d(shape.outputs));
  return chain;
}

class WholeLinear : public Layer {
 public:
  WholeLinear(std::int64_t inputs, std::int64_t outputs) {
    const torch::nn::Linear whole(inputs, outputs);
    weight_ = register_parameter("weight", whole->weight);
    bias_ = register_parameter("bias", whole->bias);
  }
  torch::Tensor forward(const torch::Tensor& input) override {
    return torch::nn::functional::linear(input, weight_, bias_);
  }

 private:
  torch::Tensor weight_;
  torch::Tensor bias_;
};

torch::nn::functional::MaxPool2dFuncOptions pool_options(const PoolShape& shape) {
  return torch::nn::functional::MaxPool2dFuncOptions(shape.kernel)
      .stride(shape.stride)
      .padding(shape.pad);
}

}  // namespace

torch::Tensor Chain::forward(const torch::Tensor& input) {
  torch::Tensor x = input;
  for (const Step& step : steps_) x = step(x);
  return x;
}

torch::nn::Conv2d conv(const ConvShape& shape) {
  torch::nn::Conv2d biased(conv_options(shape));
  start_by_he(biased->weight);
  torch::nn::init::zeros_(biased->bias);
  return biased;
}

std::shared_ptr<Layer> conv_norm(const ConvShape& shape) { return normed(shape); }

std::shared_ptr<Layer> conv_norm_relu(const ConvShape& shape) {
  auto chain = normed(shape);
  chain->then(relu);
  return chain;
}

LocallyConnected::LocallyConnected(const LocalShape& shape) : shape_(shape) {
  const std::int64_t places = shape.height * shape.width;
  const std::int64_t fan_in = shape.inputs * shape.kernel * shape.kernel;
  weight_ = register_parameter("weight", torch::empty({places, fan_in, shape.outputs}));
  bias_ = register_parameter("bias", torch::zeros({places, shape.outputs}));
  const torch::NoGradGuard no_grad;
  weight_.normal_(0, std::sqrt(2.0 / static_cast<double>(fan_in)));
}

torch::Tensor LocallyConnected::forward(const torch::Tensor& input) {
  const auto windows = torch::nn::functional::unfold(
      input, torch::nn::functional::UnfoldFuncOptions(shape_.kernel).padding(shape_.kernel / 2));
  // One matrix product for each place: batch x fan-in times fan-in x outputs.
  const auto sums =
      torch::baddbmm(bias_.unsqueeze(1), windows.permute({2, 0, 1}).contiguous(), weight_);
  return sums.permute({1, 2, 0}).reshape(
      {input.size(0), shape_.outputs, shape_.height, shape_.width});
}

Dropout::Dropout(double drop, const Dice& dice, std::uint64_t number)
    : drop_(drop), dice_(dice), number_(number) {}

torch::Tensor Dropout::forward(const torch::Tensor& input) {
  if (!is_training()) return input;
  Dice dice = dice_;
  dice.tensor = kDropoutTensors + number_;
  const auto mask = torch::empty(input.sizes(), torch::kFloat);
  fill_mask({mask.data_ptr<float>(), static_cast<std::size_t>(mask.numel())}, drop_,
            stream_of(dice));
  return input * mask;
}

std::shared_ptr<Layer> whole_linear(const Workshop::LinearWish& wish) {
  return std::make_shared<WholeLinear>(wish.inputs, wish.outputs);
}

ClassifierDraft& ClassifierDraft::linear(const std::string& name, std::int64_t inputs,
                                         std::int64_t outputs) {
  const Workshop::LinearWish wish = {.name = name, .inputs = inputs, .outputs = outputs};
  chain_->add(name, workshop_.linear ? workshop_.linear(wish) : whole_linear(wish));
  return *this;
}

// Not in place: what a split layer gave may be more than a plain tensor.
ClassifierDraft& ClassifierDraft::relu() {
  return then([](const torch::Tensor& x) { return x.relu(); });
}

ClassifierDraft& ClassifierDraft::dropout(double drop) {
  const std::uint64_t number = dropouts_++;
  if (workshop_.dice != nullptr)
    chain_->add(fmt::format("dropout{}", number + 1),
                std::make_shared<Dropout>(drop, *workshop_.dice, number));
  return *this;
}

ClassifierDraft& ClassifierDraft::then(Chain::Step step) {
  chain_->then(std::move(step));
  return *this;
}

std::shared_ptr<Layer> one_linear(const Workshop& workshop, std::int64_t inputs) {
  return ClassifierDraft(workshop).linear("fc", inputs, workshop.classes).done();
}

Chain::Step max_pool(const PoolShape& shape) {
  return [options = pool_options(shape)](const torch::Tensor& x) {
    return torch::nn::functional::max_pool2d(x, options);
  };
}

Chain::Step max_pool_over_border(const PoolShape& shape) {
  return [options = pool_options(shape).ceil_mode(true)](const torch::Tensor& x) {
    return torch::nn::functional::max_pool2d(x, options);
  };
}

torch::Tensor global_mean(const torch::Tensor& x) { return x.mean(at::IntArrayRef{2, 3}); }

torch::Tensor flat(const torch::Tensor& x) { return x.flatten(1); }

torch::Tensor relu(const torch::Tensor& x) { return x.relu_(); }

void need_side(std::string_view network, const Workshop& workshop, int side) {
  const ImageShape& input = workshop.input;
  if (std::min(input.height, input.width) >= side) return;
  throw Error(Fault::usage, fmt::format("{} needs images of at least {}x{}, not {}x{}", network,
                                        side, side, input.height, input.width));
}

}  // namespace narrowcast
