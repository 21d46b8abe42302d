#pragma once

#include <torch/nn/functional.h>
#include <torch/nn/modules.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "train/networks/network.hpp"

// What the networks are made of.
namespace narrowcast {

// Layers one after the other.
class Chain : public Layer {
 public:
  using Step = std::function<torch::Tensor(const torch::Tensor&)>;

  // Parameters of `layer` are named after it.
  template <class Module>
  Chain& add(const std::string& name, std::shared_ptr<Module> layer) {
    register_module(name, layer);
    return then([layer = std::move(layer)](const torch::Tensor& x) { return layer->forward(x); });
  }
  template <class Module>
  Chain& add(const std::string& name, torch::nn::ModuleHolder<Module> layer) {
    return add(name, layer.ptr());
  }
  // What has no parameters needs no name.
  Chain& then(Step step) {
    steps_.push_back(std::move(step));
    return *this;
  }

  torch::Tensor forward(const torch::Tensor& input) override;

 private:
  std::vector<Step> steps_;
};

// Weights by He et al. (2015), as all the papers with ReLU have them.
struct ConvShape {
  std::int64_t inputs = 0;
  std::int64_t outputs = 0;
  std::int64_t kernel = 3;
  std::int64_t stride = 1;
  std::int64_t pad = -1;  // -1: half the kernel, which keeps the size
  std::int64_t dilation = 1;
};
torch::nn::Conv2d conv(const ConvShape& shape);            // with a bias
std::shared_ptr<Layer> conv_norm(const ConvShape& shape);  // "conv" and "norm": no bias
// The same, and ReLU.
std::shared_ptr<Layer> conv_norm_relu(const ConvShape& shape);

// A convolution without shared weights: each place has its own. Stride 1; the kernel is odd, and the
// border is padded, so that the size stays.
struct LocalShape {
  std::int64_t inputs = 0;
  std::int64_t outputs = 0;
  std::int64_t kernel = 3;
  std::int64_t height = 0;
  std::int64_t width = 0;
};
class LocallyConnected : public Layer {
 public:
  explicit LocallyConnected(const LocalShape& shape);
  torch::Tensor forward(const torch::Tensor& input) override;

 private:
  LocalShape shape_;
  torch::Tensor weight_;  // places x (inputs * kernel * kernel) x outputs
  torch::Tensor bias_;    // places x outputs
};

// Sets each value to zero with probability `drop` in training, and the mean stays.
class Dropout : public Layer {
 public:
  // `number` tells the layers of a network apart.
  Dropout(double drop, const Dice& dice, std::uint64_t number);
  torch::Tensor forward(const torch::Tensor& input) override;

 private:
  double drop_;
  const Dice& dice_;
  std::uint64_t number_;
};

// A fully connected layer of the classifier, as the workshop makes them; whole ones begin as
// torch::nn::Linear does.
std::shared_ptr<Layer> whole_linear(const Workshop::LinearWish& wish);

// A chain of fully connected layers in the making.
class ClassifierDraft {
 public:
  explicit ClassifierDraft(const Workshop& workshop) : workshop_(workshop) {}
  ClassifierDraft& linear(const std::string& name, std::int64_t inputs, std::int64_t outputs);
  ClassifierDraft& relu();
  ClassifierDraft& dropout(double drop);
  ClassifierDraft& then(Chain::Step step);
  std::shared_ptr<Layer> done() { return chain_; }

 private:
  const Workshop& workshop_;
  std::shared_ptr<Chain> chain_ = std::make_shared<Chain>();
  std::uint64_t dropouts_ = 0;
};

// The classifier of most networks: one layer, "fc".
std::shared_ptr<Layer> one_linear(const Workshop& workshop, std::int64_t inputs);

struct PoolShape {
  std::int64_t kernel = 3;
  std::int64_t stride = 2;
  std::int64_t pad = 0;
};
Chain::Step max_pool(const PoolShape& shape);
// As networks out of Caffe and cuda-convnet have it: the last window may hang over the border.
Chain::Step max_pool_over_border(const PoolShape& shape);
// Means over height and width: batch x channels.
torch::Tensor global_mean(const torch::Tensor& x);
torch::Tensor flat(const torch::Tensor& x);
// In place: for what nobody else has, as the output of the layer before.
torch::Tensor relu(const torch::Tensor& x);

// Fault::usage for images smaller than `side` in height or width.
void need_side(std::string_view network, const Workshop& workshop, int side);

}  // namespace narrowcast
