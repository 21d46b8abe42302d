#include "train/networks/builders.hpp"
#include "train/networks/layers.hpp"

// Page's nine-layer residual network, which trained CIFAR-10 fastest in 2018, and A20's first one.
namespace narrowcast {
namespace {

// x + two convolutions of it
class Residual : public Layer {
 public:
  explicit Residual(std::int64_t width)
      : first_(register_module("conv1", conv_norm_relu({.inputs = width, .outputs = width}))),
        second_(register_module("conv2", conv_norm_relu({.inputs = width, .outputs = width}))) {}
  torch::Tensor forward(const torch::Tensor& input) override {
    return input + second_->forward(first_->forward(input));
  }

 private:
  std::shared_ptr<Layer> first_;
  std::shared_ptr<Layer> second_;
};

torch::Tensor global_max(const torch::Tensor& x) { return x.amax(at::IntArrayRef{2, 3}); }

}  // namespace

std::shared_ptr<Network> davidnet(const Workshop& workshop) {
  need_side("davidnet", workshop, 8);
  constexpr double kScale = 0.125;
  const Chain::Step pool = max_pool({.kernel = 2, .stride = 2});
  auto features = std::make_shared<Chain>();
  features->add("prep", conv_norm_relu({.inputs = workshop.input.channels, .outputs = 64}))
      .add("conv1", conv_norm_relu({.inputs = 64, .outputs = 128}))
      .then(pool)
      .add("residual1", std::make_shared<Residual>(128))
      .add("conv2", conv_norm_relu({.inputs = 128, .outputs = 256}))
      .then(pool)
      .add("conv3", conv_norm_relu({.inputs = 256, .outputs = 512}))
      .then(pool)
      .add("residual3", std::make_shared<Residual>(512))
      .then(global_max);
  auto classifier = ClassifierDraft(workshop)
                        .linear("fc", 512, workshop.classes)
                        .then([](const torch::Tensor& x) { return x * kScale; })
                        .done();
  return std::make_shared<Network>(features, classifier);
}

}  // namespace narrowcast
