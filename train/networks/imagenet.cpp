#include <fmt/format.h>
#include <torch/torch.h>

#include "train/networks/builders.hpp"
#include "train/networks/layers.hpp"

// Convolutions and three large fully connected layers: what model parallelism was invented for.
namespace narrowcast {
namespace {

constexpr std::int64_t kHidden = 4096;

std::shared_ptr<Layer> three_layers(const Workshop& workshop, std::int64_t inputs) {
  return ClassifierDraft(workshop)
      .dropout(0.5)
      .linear("fc6", inputs, kHidden)
      .relu()
      .dropout(0.5)
      .linear("fc7", kHidden, kHidden)
      .relu()
      .linear("fc8", kHidden, workshop.classes)
      .done();
}

// A map of that size whatever the image's: with the size that the paper has, nothing changes.
Chain::Step resized(std::int64_t side) {
  return [side](const torch::Tensor& x) {
    if (x.size(2) == side && x.size(3) == side) return x;
    return torch::adaptive_avg_pool2d(x, {side, side});
  };
}

// The paper sums squares where torch takes their mean: its 1e-4 times the 5 channels.
torch::Tensor response_norm(const torch::Tensor& x) {
  return torch::nn::functional::local_response_norm(
      x, torch::nn::functional::LocalResponseNormFuncOptions(5).alpha(5e-4).beta(0.75).k(2));
}

}  // namespace

// Krizhevsky et al. (2012), without the groups that split it over two cards.
std::shared_ptr<Network> alexnet(const Workshop& workshop) {
  need_side("alexnet", workshop, 63);
  const PoolShape pool = {.kernel = 3, .stride = 2};
  auto features = std::make_shared<Chain>();
  features
      ->add("conv1", conv({.inputs = workshop.input.channels,
                           .outputs = 96,
                           .kernel = 11,
                           .stride = 4,
                           .pad = 2}))
      .then(relu)
      .then(response_norm)
      .then(max_pool(pool))
      .add("conv2", conv({.inputs = 96, .outputs = 256, .kernel = 5}))
      .then(relu)
      .then(response_norm)
      .then(max_pool(pool))
      .add("conv3", conv({.inputs = 256, .outputs = 384}))
      .then(relu)
      .add("conv4", conv({.inputs = 384, .outputs = 384}))
      .then(relu)
      .add("conv5", conv({.inputs = 384, .outputs = 256}))
      .then(relu)
      .then(max_pool(pool))
      .then(resized(6))
      .then(flat);
  return std::make_shared<Network>(features, three_layers(workshop, std::int64_t{256} * 6 * 6));
}

// Simonyan and Zisserman (2015), configuration E.
std::shared_ptr<Network> vgg19(const Workshop& workshop) {
  need_side("vgg19", workshop, 32);
  struct Maps {
    int convolutions;
    std::int64_t width;
  };
  constexpr Maps kStages[] = {{2, 64}, {2, 128}, {4, 256}, {4, 512}, {4, 512}};
  auto features = std::make_shared<Chain>();
  std::int64_t inputs = workshop.input.channels;
  int number = 0;
  for (const Maps& stage : kStages) {
    ++number;
    for (int i = 1; i <= stage.convolutions; ++i) {
      features
          ->add(fmt::format("conv{}_{}", number, i),
                conv({.inputs = inputs, .outputs = stage.width}))
          .then(relu);
      inputs = stage.width;
    }
    features->then(max_pool({.kernel = 2, .stride = 2}));
  }
  features->then(resized(7)).then(flat);
  return std::make_shared<Network>(features, three_layers(workshop, std::int64_t{512} * 7 * 7));
}

}  // namespace narrowcast
