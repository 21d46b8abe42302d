#include "train/networks/builders.hpp"
#include "train/networks/layers.hpp"

// The networks of Dettmers (2016).
namespace narrowcast {
namespace {

// Across channels, with the constants of cuda-convnet's example that D16 started from.
torch::Tensor response_norm(const torch::Tensor& x) {
  return torch::nn::functional::local_response_norm(
      x, torch::nn::functional::LocalResponseNormFuncOptions(9).alpha(0.001).beta(0.75).k(1));
}

}  // namespace

std::shared_ptr<Network> mnist_mlp(const Workshop& workshop) {
  constexpr std::int64_t kHidden = 1024;
  auto features = std::make_shared<Chain>();
  features->then(flat);
  auto classifier = ClassifierDraft(workshop)
                        .dropout(0.2)
                        .linear("fc1", static_cast<std::int64_t>(workshop.input.values()), kHidden)
                        .relu()
                        .dropout(0.3)
                        .linear("fc2", kHidden, kHidden)
                        .relu()
                        .dropout(0.3)
                        .linear("fc3", kHidden, workshop.classes)
                        .done();
  return std::make_shared<Network>(features, classifier);
}

std::shared_ptr<Network> cifar_conv(const Workshop& workshop) {
  need_side("cifar-conv", workshop, 8);
  const std::int64_t height = (workshop.input.height / 2) / 2;
  const std::int64_t width = (workshop.input.width / 2) / 2;
  const PoolShape pool = {.kernel = 3, .stride = 2};
  auto features = std::make_shared<Chain>();
  features->add("conv1", conv({.inputs = workshop.input.channels, .outputs = 64, .kernel = 5}))
      .then(relu)
      .then(max_pool_over_border(pool))
      .then(response_norm)
      .add("conv2", conv({.inputs = 64, .outputs = 64}))
      .then(relu)
      .then(max_pool_over_border(pool))
      .then(response_norm)
      .add("local3", std::make_shared<LocallyConnected>(
                         LocalShape{.inputs = 64, .outputs = 64, .height = height, .width = width}))
      .then(relu)
      .add("local4", std::make_shared<LocallyConnected>(
                         LocalShape{.inputs = 64, .outputs = 32, .height = height, .width = width}))
      .then(relu)
      .then(flat);
  return std::make_shared<Network>(features, one_linear(workshop, 32 * height * width));
}

}  // namespace narrowcast
